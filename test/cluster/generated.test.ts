// The generated CRDs on the real kube-apiserver. Permissions are in permissions.test.ts; invalid samples are in the
// statements.
import { inject } from 'vitest';
import '../../tools/control-plane/global-setup.ts';
import { generatedCases } from '../generate/generated-cases.ts';

const { url, ca, adminToken } = inject('controlPlane');

generatedCases(() => ({ server: new URL(url), ca, token: async () => adminToken }));

// What `generate` draws, on the real kube-apiserver. Rights are in rights.test.ts; what the samples refuse is among the statements.
import { inject } from 'vitest';
import '../../tools/control-plane/global-setup.ts';
import { generatedCases } from '../generate/generated-cases.ts';

const { url, ca, adminToken } = inject('controlPlane');

generatedCases(() => ({ server: new URL(url), ca, token: async () => adminToken }));

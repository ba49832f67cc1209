// The cases of two controllers on one kind on the real kube-apiserver.
import { inject } from 'vitest';
import '../control-plane/global-setup.ts';
import { partCases } from '../runtime/part-cases.ts';

const { url, ca, adminToken } = inject('controlPlane');
partCases(() => ({ server: new URL(url), ca, token: async () => adminToken }));

// Writes through src/kube on the real kube-apiserver.
import { inject } from 'vitest';
import '../control-plane/global-setup.ts';
import { writeCases } from '../kube/write-cases.ts';

const { url, ca, adminToken } = inject('controlPlane');
writeCases(() => ({ server: new URL(url), ca, token: async () => adminToken }));

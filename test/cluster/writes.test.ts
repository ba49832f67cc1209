// Writes through src/kube on the real kube-apiserver.
import { inject } from 'vitest';
import '../../tools/control-plane/global-setup.ts';
import { applyAllCases } from '../kube/apply/apply-all-cases.ts';
import { writeCases } from '../kube/apply/write-cases.ts';

const { url, ca, adminToken } = inject('controlPlane');
const connect = () => ({ server: new URL(url), ca, token: async () => adminToken });
applyAllCases(connect);
writeCases(connect);

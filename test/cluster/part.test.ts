// The cases of two controllers on one kind on the real kube-apiserver.
import { inject } from 'vitest';
import '../control-plane/global-setup.ts';
import { partCases } from '../runtime/part-cases.ts';
import { partFailureCases } from '../runtime/part-failure-cases.ts';
import { partWakeCases } from '../runtime/part-wake-cases.ts';

const { url, ca, adminToken } = inject('controlPlane');
const connect = () => ({ server: new URL(url), ca, token: async () => adminToken });
partCases(connect);
partFailureCases(connect);
partWakeCases(connect);

// The cases of two controllers on one kind on the real kube-apiserver.
import { inject } from 'vitest';
import '../../tools/control-plane/global-setup.ts';
import { partCases } from '../reconciling/status-slice-cases.ts';
import { partFailureCases } from '../reconciling/status-slice-failure-cases.ts';
import { partWakeCases } from '../reconciling/status-slice-wake-cases.ts';

const { url, ca, adminToken } = inject('controlPlane');
const connect = () => ({ server: new URL(url), ca, token: async () => adminToken });
partCases(connect);
partFailureCases(connect);
partWakeCases(connect);

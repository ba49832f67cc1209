// The cases of two controllers on one kind on the real kube-apiserver.
import { inject } from 'vitest';
import '../../tools/control-plane/global-setup.ts';
import { statusSliceCases } from '../reconciling/status-slice-cases.ts';
import { statusSliceFailureCases } from '../reconciling/status-slice-failure-cases.ts';
import { statusSliceWakeCases } from '../reconciling/status-slice-wake-cases.ts';

const { url, ca, adminToken } = inject('controlPlane');
const connect = () => ({ server: new URL(url), ca, token: async () => adminToken });
statusSliceCases(connect);
statusSliceFailureCases(connect);
statusSliceWakeCases(connect);

// The reconcile's cases on the real kube-apiserver.
import { inject } from 'vitest';
import '../control-plane/global-setup.ts';
import { reconcileCases } from '../runtime/reconcile-cases.ts';

const { url, ca, adminToken } = inject('controlPlane');
reconcileCases(() => ({ server: new URL(url), ca, token: async () => adminToken }));

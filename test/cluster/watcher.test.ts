// The watcher's cases on the real kube-apiserver.
import { inject } from 'vitest';
import '../../tools/control-plane/global-setup.ts';
import { watcherCases } from '../watcher/process-cases.ts';

const { url, ca, adminToken, kubeconfig } = inject('controlPlane');
watcherCases(() => ({ connection: { server: new URL(url), ca, token: async () => adminToken }, kubeconfig }));

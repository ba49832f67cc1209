// The release's cases on the real kube-apiserver: what it makes of metadata.managedFields that are taken away.
import { inject } from 'vitest';
import '../control-plane/global-setup.ts';
import { releaseCases } from '../runtime/release-cases.ts';

const { url, ca, adminToken } = inject('controlPlane');
releaseCases(() => ({ server: new URL(url), ca, token: async () => adminToken }), { withCopies: false });

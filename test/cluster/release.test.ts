// The release's cases on the real kube-apiserver: what it makes of metadata.managedFields that are taken away.
import { inject } from 'vitest';
import '../../tools/control-plane/global-setup.ts';
import { releaseCases } from '../runtime/release-cases.ts';
import { releaseChildrenCases } from '../runtime/release-children-cases.ts';
import { releaseScene } from '../operations/detach-fixture.ts';

const { url, ca, adminToken } = inject('controlPlane');
const scene = releaseScene(() => ({ server: new URL(url), ca, token: async () => adminToken }));
releaseCases(scene);
releaseChildrenCases(scene, { withCopies: false });

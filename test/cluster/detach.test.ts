// The detach cases on the real kube-apiserver: its handling of removed metadata.managedFields.
import { inject } from 'vitest';
import '../../tools/control-plane/global-setup.ts';
import { detachCases } from '../operations/detach-cases.ts';
import { detachChildrenCases } from '../operations/detach-children-cases.ts';
import { detachFixture } from '../operations/detach-fixture.ts';

const { url, ca, adminToken } = inject('controlPlane');
const fixture = detachFixture(() => ({ server: new URL(url), ca, token: async () => adminToken }));
detachCases(fixture);
detachChildrenCases(fixture, { withCopies: false });

// The conformance suite on the real kube-apiserver, which verifies the cases themselves. Excluded: the in-memory server
// (test/conformance).
import { inject } from 'vitest';
import '../../tools/control-plane/global-setup.ts';
import { conformance } from '../conformance/conformance.ts';

const { url, ca, adminToken } = inject('controlPlane');
conformance({ url, ca, token: adminToken });

// The conformance suite's questions about a forgotten past, on a real kube-apiserver that forgets within seconds.
import { afterAll, describe } from 'vitest';
import { historyCases } from '../conformance/history.ts';
import { createSuite } from '../conformance/suite.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';

const plane = await startControlPlane({ apiServerFlags: ['--etcd-compaction-interval=1s'] });
afterAll(() => plane.stop());

describe('history', () => historyCases(createSuite({ url: plane.url, ca: plane.ca, token: plane.adminToken })));

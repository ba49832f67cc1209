// The conformance suite's cases of compacted versions, on a real kube-apiserver that compacts within seconds.
import { afterAll, describe } from 'vitest';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { historyCases } from '../conformance/history.ts';
import { createSuite } from '../conformance/suite.ts';

const plane = await startControlPlane({ apiServerFlags: ['--etcd-compaction-interval=1s'] });
afterAll(() => plane.stop());

describe('history', () => historyCases(createSuite({ url: plane.url, ca: plane.ca, token: plane.adminToken })));

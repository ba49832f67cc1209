// Statements of samples on a real kube-apiserver without kube-controller-manager: only the test and our controllers
// write there, so a test can set the status of a Deployment and check that an object has no other effects.
import { afterAll } from 'vitest';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { bitcoinNetworkCases } from '../statements/bitcoin-network-cases.ts';
import { bitcoinNetworkLifeCases } from '../statements/bitcoin-network-life-cases.ts';
import { bitcoinNetworkWakeCases } from '../statements/bitcoin-network-wake-cases.ts';
import { bookCases } from '../statements/book-cases.ts';
import { fooAggregationCases } from '../statements/foo-aggregation-cases.ts';
import { fooCases } from '../statements/foo-cases.ts';
import { generationCases } from '../statements/generation-cases.ts';
import { hostileChildCases } from '../statements/hostile-child-cases.ts';
import { ownerCases } from '../statements/owner-cases.ts';

const plane = await startControlPlane();
afterAll(() => plane.stop());
const connect = () => plane.connection();

bookCases({ url: plane.url, ca: plane.ca, token: plane.adminToken });
fooCases(connect);
fooAggregationCases(connect);
bitcoinNetworkCases(connect);
bitcoinNetworkLifeCases(connect);
bitcoinNetworkWakeCases(connect);
generationCases(connect);
hostileChildCases(connect);
ownerCases(connect);

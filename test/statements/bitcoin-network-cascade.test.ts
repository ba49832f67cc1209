// The statements of bitcoin-network-cascade-cases.ts on the in-memory API server. test/cluster/bitcoin-network.test.ts runs the same on the real one.
import { afterAll } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { bitcoinNetworkCascadeCases } from './bitcoin-network-cascade-cases.ts';

const server = await startApiServer();
afterAll(() => server.close());

bitcoinNetworkCascadeCases(() => ({ server: new URL(server.url) }));

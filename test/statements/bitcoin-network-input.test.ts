// The statements of bitcoin-network-input-cases.ts on the in-memory API server. test/cluster/bitcoin-network.test.ts runs the same on the real one.
import { afterAll } from 'vitest';
import { startApiServer } from '../../src/local/api-server/server.ts';
import { bitcoinNetworkInputCases } from './bitcoin-network-input-cases.ts';

const server = await startApiServer();
afterAll(() => server.close());

bitcoinNetworkInputCases(() => ({ server: new URL(server.url) }));

// The statements of bitcoin-network-wake-cases.ts on the in-memory API server. test/cluster/samples-alone.test.ts runs the same on the real one.
import { afterAll } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { bitcoinNetworkWakeCases } from './bitcoin-network-wake-cases.ts';

const server = await startApiServer();
afterAll(() => server.close());

bitcoinNetworkWakeCases(() => ({ server: new URL(server.url) }));

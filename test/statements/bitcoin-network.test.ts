// The statements of bitcoin-network-cases.ts and bitcoin-network-life-cases.ts on the in-memory API server. test/cluster/samples-alone.test.ts runs the same on the real one.
import { afterAll } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { bitcoinNetworkCases } from './bitcoin-network-cases.ts';
import { bitcoinNetworkLifeCases } from './bitcoin-network-life-cases.ts';

const server = await startApiServer();
afterAll(() => server.close());

const connection = { server: new URL(server.url) };
bitcoinNetworkCases(() => connection);
bitcoinNetworkLifeCases(() => connection);

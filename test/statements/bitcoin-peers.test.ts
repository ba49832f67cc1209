// The statements of bitcoin-peers-cases.ts on the in-memory API server, with nodes that are a list each.
import { afterAll } from 'vitest';
import { startApiServer } from '../../src/local/api-server/server.ts';
import { createBitcoinNodes } from '../../src/local/worlds/bitcoin.ts';
import { bitcoinPeersCases } from './bitcoin-peers-cases.ts';

const nodes = createBitcoinNodes();
const server = await startApiServer({ execute: nodes.execute });
afterAll(() => server.close());

bitcoinPeersCases(() => ({ server: new URL(server.url) }), nodes);

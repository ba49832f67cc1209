// BitcoinNetwork's bad input, row by row as the statements list it. A pod without a real address is not among it: a controller
// refuses that (bitcoin-peers), not the schema.
import { BitcoinNetwork } from '../../../src/controllers/bitcoin-network/kind.ts';
import { type BadInput, badName, longestName } from './bad-input.ts';

const nodes = 3;
const counts = ['spec.nodes'];
const secrets = ['spec.secret'];
const tooLong = 'a name begins with a letter and has at most 48';

export const bitcoinNetworkInput: BadInput = {
  kind: BitcoinNetwork,
  id: 'B',
  good: { nodes },
  refused: [
    { what: 'nodes missing', spec: {}, fields: counts, says: 'Required' },
    { what: 'nodes "3"', spec: { nodes: '3' }, fields: counts },
    { what: 'nodes 1.5', spec: { nodes: 1.5 }, fields: counts },
    { what: 'nodes -1', spec: { nodes: -1 }, fields: counts },
    { what: 'nodes 65', spec: { nodes: 65 }, fields: counts },
    { what: 'nodes 2147483648', spec: { nodes: 2_147_483_648 }, fields: counts },
    { what: 'secret 5', spec: { nodes, secret: 5 }, fields: secrets },
    { what: 'secret "Not A Name!"', spec: { nodes, secret: 'Not A Name!' }, fields: secrets },
    { what: 'secret "a..b"', spec: { nodes, secret: 'a..b' }, fields: secrets },
    { what: 'secret of 254 characters', spec: { nodes, secret: 'a'.repeat(254) }, fields: secrets },
    badName('a.b', { nodes }, tooLong),
    badName('1a', { nodes }, tooLong),
    badName('a'.repeat(49), { nodes }, tooLong),
  ],
  taken: [
    longestName(48, { nodes }),
    { what: 'nodes 0', spec: { nodes: 0 }, stored: { nodes: 0 } },
    { what: 'nodes 64', spec: { nodes: 64 }, stored: { nodes: 64 } },
    { what: 'secret ""', spec: { nodes, secret: '' }, stored: { nodes, secret: '' } },
    { what: 'secret "a.b-c"', spec: { nodes, secret: 'a.b-c' }, stored: { nodes, secret: 'a.b-c' } },
  ],
};

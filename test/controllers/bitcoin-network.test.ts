// Foreign children of a network, on objects in memory. Everything else is test/statements/bitcoin-network*.ts.
import { describe, expect, it } from 'vitest';
import { BitcoinNetwork } from '../../src/controllers/bitcoin-network/kind.ts';
import { bitcoinNetwork } from '../../src/controllers/bitcoin-network.ts';
import { testContext } from '../../src/testing/test-context.ts';

const three = BitcoinNetwork.object('a', { nodes: 3 });
const world = (objects: readonly object[] = []) => testContext(bitcoinNetwork, { owner: three, objects });
const set = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'a-sts', namespace: 'default' } };
const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a-svc', namespace: 'default' } };

describe('the reconciler', () => {
  it('leaves to bitcoin-peers what is its own: `nodes` is never in the result', async () => {
    const nodes = [{ ordinal: 0, ready: true, ip: '10.0.0.1', nodeName: 'a-sts-0', dnsName: 'a-sts-0.a-svc' }];
    const result = await bitcoinNetwork.reconcile({ ...three, status: { replicas: 1, nodes } }, world());
    expect(result.status).not.toHaveProperty('nodes');
  });

  it.each([
    ['Service', service, 'ServiceReady'],
    ['StatefulSet', set, 'NodesReady'],
  ] as const)('B21: a foreign %s is reported once, the other one is created, and the reconcile is retried', async (_, theirs, type) => {
    const context = world([{ ...theirs, spec: { replicas: 9 } }]);
    const result = await bitcoinNetwork.reconcile(three, context);
    expect(result).toHaveProperty('error', expect.any(Error));
    expect(result.conditions[type]).toMatchObject({ status: 'False', reason: 'NotOwned' });
    expect(result.status).toEqual(theirs === set ? {} : { replicas: 0, readyNodes: 0 });
    const standing = [{ type, ...result.conditions[type] }];
    await bitcoinNetwork.reconcile({ ...three, conditions: standing }, context);
    expect(context.events.map(({ reason }) => reason)).toEqual(['Created', 'ErrResourceExists']);
  });
});

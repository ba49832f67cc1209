// The reconciler of a network's workloads, called by hand over objects in memory. What an API server makes of it is the
// statements' business.
import { describe, expect, it } from 'vitest';
import { bitcoinNetwork } from '../../../src/controllers/bitcoin-network/bitcoin-network.ts';
import { BitcoinNetwork } from '../../../src/controllers/bitcoin-network/kind.ts';
import { Service, StatefulSet } from '../../../src/kubernetes.ts';
import { testContext } from '../../../src/testing/test-context.ts';

const three = BitcoinNetwork.object('a', { nodes: 3 });
const world = (objects: readonly object[] = []) => testContext(bitcoinNetwork, { owner: three, objects });
const set = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'a-sts', namespace: 'default' } };
const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a-svc', namespace: 'default' } };

describe('the reconciler', () => {
  it('B1, B6: creates both, records Events, and is not ready before a report', async () => {
    const context = world();
    const { status, conditions } = await bitcoinNetwork.reconcile(three, context);
    expect(status).toEqual({ replicas: 0, readyNodes: 0 });
    expect(conditions).toMatchObject({
      ServiceReady: { status: 'True' },
      NodesReady: { status: 'False', reason: 'NotAllReady', message: 'a-sts: 0 of 3 replicas are ready' },
    });
    expect(await context.get(Service, { name: 'a-svc' })).toBeDefined();
    expect((await context.get(StatefulSet, { name: 'a-sts' }))?.spec?.replicas).toBe(3);
    expect(context.events.map(({ reason }) => reason)).toEqual(['Created', 'Created']);
  });

  it.each([
    [{ observedGeneration: 1, replicas: 3, readyReplicas: 2 }, 'False', 'NotAllReady'],
    [{ observedGeneration: 1, replicas: 3, readyReplicas: 3 }, 'True', 'AllReady'],
    [{ observedGeneration: 1, replicas: 4, readyReplicas: 4 }, 'True', 'AllReady'],
    [{ observedGeneration: 0, replicas: 3, readyReplicas: 3 }, 'Unknown', 'OutOfDate'],
    [{ observedGeneration: 1, replicas: 3, readyReplicas: undefined }, 'False', 'NotAllReady'],
  ])('V4: of a StatefulSet that reports %o its nodes’ readiness is %s, %s', async (reported, status, reason) => {
    const context = world();
    await bitcoinNetwork.reconcile(three, context);
    context.put({ ...set, status: reported });
    const result = await bitcoinNetwork.reconcile(three, context);
    expect(result.conditions.NodesReady).toMatchObject({ status, reason });
    expect(result.status).toEqual({ replicas: reported.replicas, readyNodes: reported.readyReplicas ?? 0 });
  });

  it('B15a: a network of no nodes is ready', async () => {
    const context = world();
    const { conditions } = await bitcoinNetwork.reconcile(BitcoinNetwork.object('a', { nodes: 0 }), context);
    expect(conditions.NodesReady).toMatchObject({ status: 'True' });
  });

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

  it('B32: says Scaled where the number changes, and nothing where nothing does', async () => {
    const context = world();
    await bitcoinNetwork.reconcile(three, context);
    await bitcoinNetwork.reconcile(three, context);
    await bitcoinNetwork.reconcile({ ...three, spec: { nodes: 4 } }, context);
    expect(context.events.slice(2)).toEqual([
      { type: 'Normal', reason: 'Scaled', message: 'Adjusting number of replicas to 4' },
    ]);
  });
});

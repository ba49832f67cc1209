// Which pods are nodes of a network, and which of them may be told of each other. Pure.
import { describe, expect, it } from 'vitest';
import { hasUsableAddress, nodesOf } from '../../../src/controllers/bitcoin-network/nodes.ts';
import type { Pod } from '../../../src/kubernetes.ts';
import type { ObjectOf } from '../../../src/outrigger.ts';

const network = { name: 'a', uid: 'network', nodes: 3 };
const controlledBy = (uid: string, controller = true) => [{ apiVersion: 'v1', kind: 'X', name: 'x', uid, controller }];
const metadata = { namespace: 'default', generation: 1, resourceVersion: '1' };
const set = { metadata: { ...metadata, name: 'a-sts', uid: 'set', ownerReferences: controlledBy('network') } };
type Pods = readonly ObjectOf<typeof Pod>[];
const pod = (
  name: string,
  more: { ip?: string; ready?: string; owner?: Partial<ObjectOf<typeof Pod>['metadata']> } = {},
): Pods[number] => ({
  metadata: { ...metadata, name, uid: `uid-of-${name}`, ownerReferences: controlledBy('set'), ...more.owner },
  status: {
    ...(more.ip === undefined ? {} : { podIP: more.ip }),
    conditions: [
      { type: 'Initialized', status: 'True' },
      { type: 'Ready', status: more.ready ?? 'True' },
    ],
  },
});
const names = (pods: Pods, of = network) => nodesOf(of, set, pods).map(({ nodeName }) => nodeName);

describe('nodesOf', () => {
  it('B7: lists what there is of each pod, by ordinal and not by name', () => {
    const eleven = { ...network, nodes: 11 };
    const pods = [
      pod('a-sts-10', { ready: 'False' }),
      pod('a-sts-2', { ip: '10.0.0.2' }),
      pod('a-sts-0', { ip: '10.0.0.1' }),
    ];
    expect(nodesOf(eleven, set, pods)).toEqual([
      { ordinal: 0, ready: true, ip: '10.0.0.1', nodeName: 'a-sts-0', dnsName: 'a-sts-0.a-svc' },
      { ordinal: 2, ready: true, ip: '10.0.0.2', nodeName: 'a-sts-2', dnsName: 'a-sts-2.a-svc' },
      { ordinal: 10, ready: false, ip: '', nodeName: 'a-sts-10', dnsName: 'a-sts-10.a-svc' },
    ]);
  });

  it('B15: knows no ordinal that is not wanted any more', () => {
    const four = [0, 1, 2, 3].map((ordinal) => pod(`a-sts-${ordinal}`));
    expect(names(four)).toEqual(['a-sts-0', 'a-sts-1', 'a-sts-2']);
    expect(names(four, { ...network, nodes: 0 })).toEqual([]);
  });

  it.each([
    ['without an owner', { ownerReferences: [] }],
    ['of another StatefulSet', { ownerReferences: controlledBy('other') }],
    ['of which our StatefulSet is an owner, but not the controller', { ownerReferences: controlledBy('set', false) }],
  ])('B9: a pod %s is none', (_, owner) => {
    expect(names([pod('a-sts-0', { owner }), pod('a-sts-1')])).toEqual(['a-sts-1']);
  });

  it.each(['a-sts', 'a-sts-', 'a-sts-x', 'a-sts-01', 'a-sts-1-2', 'b-sts-1'])('B9: %s is no name of a node', (name) => {
    expect(names([pod(name)])).toEqual([]);
  });

  it('B9, B20: a missing or foreign StatefulSet has no nodes', () => {
    const foreign = { metadata: { ...set.metadata, ownerReferences: controlledBy('network before') } };
    for (const one of [undefined, foreign, { metadata: { ...metadata, name: 'a-sts', uid: 'set' } }]) {
      expect(nodesOf(network, one, [pod('a-sts-0')])).toEqual([]);
    }
  });

  it('B11: a pod that is being deleted is not ready, whatever it says', () => {
    const going = pod('a-sts-0', {
      owner: { ownerReferences: controlledBy('set'), deletionTimestamp: '1970-01-01T00:00:00Z' },
    });
    expect(nodesOf(network, set, [going])).toMatchObject([{ ready: false }]);
  });
});

describe('hasUsableAddress', () => {
  const node = { ordinal: 0, ready: true, ip: '10.0.0.1', nodeName: 'a-sts-0', dnsName: 'a-sts-0.a-svc' };
  it.each([
    [{}, true],
    [{ ip: 'fd00::1' }, true],
    [{ ready: false }, false],
    [{ ip: '' }, false],
    [{ ip: '10.0.0.256' }, false],
    [{ ip: '10.0.0.1:18444' }, false],
    [{ ip: '-rpcconnect=203.0.113.1' }, false],
    [{ ip: 'node.example.com' }, false],
  ])('bad input: of a node with %o it is %s', (more, expected) => {
    expect(hasUsableAddress({ ...node, ...more })).toBe(expected);
  });
});

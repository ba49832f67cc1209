// What goes with a BitcoinNetwork (B19), as a case for any API server with a garbage collector: kube-controller-manager's, or
// that of the in-memory server.

import { describe, expect, it } from 'vitest';
import { BitcoinNetwork as networks } from '../../src/controllers/bitcoin-network/kind.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { Service, StatefulSet } from '../../src/kubernetes.ts';
import { useApiServer } from '../harness/api-server.ts';
import { createBitcoin } from './bitcoin.ts';
import { useSystem } from './harness.ts';

// The real collector learns of a new kind within 30 s.
const collectedWithinMilliseconds = 60_000;
const name = 'my-network';

const { connect } = await useApiServer();
const system = useSystem(connect);

describe('what a BitcoinNetwork owns', { timeout: 2 * collectedWithinMilliseconds }, () => {
  it.each([
    'Background',
    'Foreground',
  ])('B19: goes with it, when it is deleted in the %s', async (propagationPolicy) => {
    await createBitcoin(system).network(name);
    await system.reconcile(networks, name);
    const left = async () => [
      ...(await system.list(StatefulSet)),
      ...(await system.list(Service)),
      ...(await system.list(networks)),
    ];
    expect(await left()).toHaveLength(3);
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy };
    await system.client.request({
      method: 'DELETE',
      path: objectPath(networks, { name, namespace: system.namespace }),
      body,
    });
    // B19a: a reconcile meanwhile makes nothing again.
    await system.reconcile(networks, name);
    await expect.poll(left, { timeout: collectedWithinMilliseconds }).toEqual([]);
  });
});

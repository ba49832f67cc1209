// Cafe: has one Deployment with a waiter for every ten seats, and is Ready when that is available.
import * as z from 'zod';
import { Deployment } from '../kubernetes.ts';
import { defineKind, deploymentAvailable, type ResultOf } from '../outrigger.ts';

/** The kind: what a user may write, and what the controller says. */
export const Cafe = defineKind({
  group: 'cafe.example.com',
  version: 'v1',
  kind: 'Cafe',
  spec: z.object({ seats: z.number().int().min(0).max(200) }),
  status: z.object({ waiters: z.number().int() }),
  conditions: ['Served'],
  columns: { Seats: '.spec.seats', Waiters: '.status.waiters' },
});

/** The controller. */
export const cafe = Cafe.controller('cafe', {
  owns: [Deployment],

  async reconcile({ metadata: { name }, spec }, { apply }): Promise<ResultOf<typeof Cafe>> {
    const waiters = Math.ceil(spec.seats / 10);
    const labels = { cafe: name };
    const pod = { automountServiceAccountToken: false, containers: [{ name: 'waiter', image: 'nginx' }] };
    const deployment = await apply(Deployment, {
      metadata: { name, labels },
      spec: { replicas: waiters, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } },
    });
    return { status: { waiters }, conditions: { Served: deploymentAvailable(deployment) } };
  },

  // A cafe that is deleted stays until this says 'done': here, until its own waiters have left.
  async finalize({ metadata: { uid } }, { applyAll, list }) {
    await applyAll(Deployment, []);
    const waiters = await list(Deployment);
    const isLeaving = waiters.some(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));
    return isLeaving ? { requeueAfterSeconds: 5, reason: 'WaitersLeaving' } : 'done';
  },
});

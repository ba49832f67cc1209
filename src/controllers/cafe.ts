// Cafe: has one Deployment with a waiter for every ten seats, and is Ready when that is available.
import type { V1Deployment } from '@kubernetes/client-node';
import * as z from 'zod';
import { availabilityOf, defineController, defineResource, existingKind } from '../outrigger.ts';

/** The kind: what a user may write, and what the controller says. */
export const cafeKind = defineResource({
  group: 'cafe.example.com',
  version: 'v1',
  kind: 'Cafe',
  spec: z.object({ seats: z.number().int().min(0).max(200) }),
  status: z.object({ waiters: z.number().int() }),
  conditions: ['Served'],
  columns: { Seats: '.spec.seats', Waiters: '.status.waiters' },
});

/** A kind of Kubernetes' own. */
export const deploymentKind = existingKind<V1Deployment>({ group: 'apps', version: 'v1', kind: 'Deployment' });

/** The controller. */
export const cafe = defineController(cafeKind)({
  name: 'cafe',
  owns: [deploymentKind],

  async reconcile({ metadata: { name }, spec }, { children }) {
    const waiters = Math.ceil(spec.seats / 10);
    const labels = { cafe: name };
    const [deployment] = await children(deploymentKind, [
      {
        metadata: { name, labels },
        spec: {
          replicas: waiters,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'waiter', image: 'nginx' }] } },
        },
      },
    ]);
    return { status: { waiters }, conditions: { Served: availabilityOf(deployment) } };
  },

  // A cafe that is deleted stays until this says 'done': here, until its waiters have left.
  async finalize({ metadata: { name } }, { children, list }) {
    await children(deploymentKind, []);
    const left = await list(deploymentKind, { cafe: name });
    return left.length === 0 ? 'done' : { requeueAfterSeconds: 5, reason: 'WaitersLeaving' };
  },
});

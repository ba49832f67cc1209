// EphemeralVolumeClaim, as in kopf's walkthrough: has a PersistentVolumeClaim of its size, with its labels. The claim
// grows with it, and is deleted with it.

import { defineKind, ok, type ResultOf } from 'outrigger';
import { PersistentVolumeClaim } from 'outrigger/kubernetes';
import * as z from 'zod';

export const EphemeralVolumeClaim = defineKind({
  group: 'kopf.dev',
  version: 'v1',
  kind: 'EphemeralVolumeClaim',
  spec: z.object({
    size: z
      .string()
      .max(20)
      .regex(/^[1-9][0-9]*(Ki|Mi|Gi|Ti)$/)
      .describe('The storage, such as 1Gi.'),
  }),
  status: z.object({
    capacity: z.string().optional().describe('What the volume has: it grows some time after the size.'),
  }),
  conditions: ['Claimed'],
  columns: { Size: '.spec.size', Capacity: '.status.capacity' },
  shortNames: ['evc'],
});

export const ephemeralVolumeClaim = EphemeralVolumeClaim.controller('ephemeral-volume-claim', {
  owns: [PersistentVolumeClaim],
  // The labels are copied, so a change of them counts, and not only one of the spec.
  changes: 'metadata',

  async reconcile({ metadata, spec }, { apply }): Promise<ResultOf<typeof EphemeralVolumeClaim>> {
    const { name, labels = {} } = metadata;
    // Asked for again at each reconcile: what is so already is not written. A claim that somebody deleted is created
    // again, and one that is too small for a new size grows.
    const claim = await apply(PersistentVolumeClaim, {
      metadata: { name, labels },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: spec.size } } },
    });
    // A claim may stay unbound until a pod uses it, so this one is Ready when it exists.
    const capacity = claim.status?.capacity?.storage;
    return { status: capacity === undefined ? {} : { capacity }, conditions: { Claimed: ok('Claimed') } };
  },
});

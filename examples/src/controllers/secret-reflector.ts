// A reflector: a Reflection copies a Secret of its namespace to other namespaces, and keeps the copies equal.
import { defineKind, inAnyNamespace, notOk, ok, type ResultOf } from 'outrigger';
import { Namespace, Secret } from 'outrigger/kubernetes';
import * as z from 'zod';

export const Reflection = defineKind({
  group: 'reflector.example.com',
  version: 'v1',
  kind: 'Reflection',
  spec: z.object({
    // Only who may read the Secret can have it copied.
    secretName: z.string().min(1).max(253).meta({ refersTo: 'secret' }),
    namespaces: z.array(z.string().min(1).max(63)).min(1).max(100).describe('Where to; * is everywhere.'),
  }),
  status: z.object({ copies: z.int() }),
  conditions: ['Copied'],
  columns: { Secret: '.spec.secretName', Copies: '.status.copies' },
});

const Copies = inAnyNamespace(Secret);

export const secretReflector = Reflection.controller('secret-reflector', {
  owns: [Copies],
  reads: [Namespace, Reflection],
  watches: [
    {
      // The sources: copies have a label of their owner, and reconcile it by that.
      kind: Secret,
      selector: { matchExpressions: [{ key: 'outrigger.dev/owner-uid', operator: 'DoesNotExist' }] },
      mapToKeys: async ({ name }, { list }) =>
        (await list(Reflection)).flatMap(({ metadata, spec }) => (spec.secretName === name ? [metadata] : [])),
    },
    {
      // A new Namespace may be one that a Secret is to be copied to.
      kind: Namespace,
      mapToKeys: async ({ name }, { list }) =>
        (await list(Reflection, {}, { namespace: '*' })).flatMap(({ metadata, spec }) =>
          spec.namespaces.some((one) => one === name || one === '*') ? [metadata] : [],
        ),
    },
  ],

  async reconcile({ metadata, spec }, { get, list, tryApplyAll }): Promise<ResultOf<typeof Reflection>> {
    const source = await get(Copies, { name: spec.secretName });
    const namespaces = (await list(Namespace)).filter(
      ({ metadata: { name, deletionTimestamp } }) =>
        deletionTimestamp === undefined &&
        name !== metadata.namespace &&
        spec.namespaces.some((one) => one === name || one === '*'),
    );
    const copies = namespaces.flatMap(({ metadata: { name: namespace } }) =>
      source === undefined
        ? []
        : [{ metadata: { namespace, name: spec.secretName }, type: source.type ?? 'Opaque', data: source.data ?? {} }],
    );
    // No key more than the source has. A type cannot be changed, so a copy of another type is made again.
    const { failure } = await tryApplyAll(Copies, copies, { exact: ['data'], recreate: true });
    const Copied = source === undefined ? notOk('NoSecret', `there is no Secret ${spec.secretName}`) : ok('Copied');
    return {
      status: { copies: copies.length },
      conditions: { Copied: failure?.condition ?? Copied },
      error: failure?.error,
    };
  },

  // The runtime deletes the copies, which no garbage collector finds in another namespace.
  finalize: async () => 'done',
});

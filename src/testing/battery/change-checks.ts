// The checks without faults of the network: what a reconciler does when nothing changed, when messages come often, late
// or not at all, and when others have changed its children.
import type { Kind } from '../../api/kind.ts';
import { isRecord } from '../../core/json.ts';
import { controllerLabel, fieldManagerOf } from '../../core/names.ts';
import { applyObject } from '../../kube/apply/apply.ts';
import { ownedFields } from '../../kube/apply/managed-fields.ts';
import { ApiError, isInvalid, isPolicyDenied } from '../../kube/client/errors.ts';
import { getObject, listPages } from '../../kube/client/read.ts';
import type { Cause } from '../../sqs/message.ts';
import { allowedBy, lackedGrant } from './least-rbac.ts';
import { convergedBeforeDeletion, deselected, expectLeft, lostKey, removed } from './removal.ts';
import { converged, describe, expectSame, fail, giveCreatedOnce, noFinalize } from './report.ts';
import { driftsOf, isWrite, lineOf, pathOf, requeueSeconds, type SampleCheck, type Stage } from './stage.ts';
import { varyingText } from './varying.ts';

/** A day and an hour, a minute and a second: each unit of a time is another one. */
const dayLaterSeconds = 86_400 + 3_600 + 60 + 1;
const repeatApply = 'apply every child in every reconcile; do not return early because the generation was observed';
const applyEvery = `${repeatApply}; ${giveCreatedOnce}`;
const mergePatch = 'application/merge-patch+json';
/** Of messages long after what they are about. That of a resync may apply again what has changed nothing. */
const late: readonly Cause[] = [
  { type: 'requeue', slot: '30/7', dueAt: 0 },
  { type: 'retry', observedAt: 0, attempt: 3, postponements: 4, slot: '60/1', dueAt: 0 },
  { type: 'resync', run: '2025-12-31T23:50:00Z' },
];

/** The checks. */
export const changeChecks: readonly SampleCheck[] = [
  {
    name: 'a converged object is reconciled without a write',
    run: async (open) => {
      await using stage = await open();
      await converged(stage);
      const before = await stage.outsideState();
      await stage.reconcile();
      expectSame(
        { 'the outside system': await stage.outsideState() },
        { 'the outside system': before },
        'after another reconcile of a converged object',
        'let every call be repeated: read what is there first, or use a call that sets a state',
      );
    },
  },
  {
    name: 'a converged object is not reconciled again and again by its own requeue',
    run: async (open) => {
      await using stage = await open();
      await converged(stage);
      const { shortestRequeueSeconds: shortest } = stage.options;
      const outcome = await stage.reconcile();
      const seconds = Math.round(requeueSeconds(outcome, stage.now()) ?? shortest);
      if (seconds >= shortest) return;
      fail(
        `a converged object is requeued after ${seconds} s, sooner than ${shortest} s`,
        'return requeueAfterSeconds only while something is awaited that no change reports, or poll less often; ' +
          'for a poll that is meant to be this short, give the battery shortestRequeueSeconds',
      );
    },
  },
  {
    name: 'a converged object is reconciled a day later without a write',
    run: async (open, _, skip) => {
      await using stage = await open();
      if (stage.options.changesWithTime) return skip('changesWithTime is given');
      if (stage.controller.declaration.deletesSelf === true) return skip('the controller deletes its objects');
      await converged(stage);
      const before = await stage.endState();
      stage.advance(dayLaterSeconds);
      await stage.reconcile();
      const writes = stage.requests.filter(isWrite);
      if (writes.length === 0) return;
      const change =
        'leave the time out of children and status; if something changes with the time on purpose, give the battery ' +
        'changesWithTime and sampleAgeSeconds';
      expectSame(await stage.endState(), before, 'a day later, when only the clock has changed', change);
      fail(`a day later, when only the clock has changed, there is ${writes.map(lineOf).join(', ')}`, change);
    },
  },
  {
    name: 'the same message ten times, and late messages, change nothing',
    run: async (open) => {
      await using stage = await open();
      await converged(stage);
      const before = await stage.endState();
      const change = 'decide by what is in the cluster, and keep no count of messages in the module';
      for (let time = 1; time <= 10; time += 1) {
        await stage.reconcile();
        const writes = stage.requests.filter(isWrite).map(lineOf).join(', ');
        if (writes !== '') fail(`message ${time} of ten equal ones caused ${writes}`, change);
      }
      for (const cause of late) await stage.reconcile(cause);
      expectSame(await stage.endState(), before, 'after equal and late ones', 'derive the children from spec alone');
    },
  },
  {
    name: 'a change between two messages in any order ends as the last change says',
    run: async (open) => {
      await using stage = await open();
      await converged(stage);
      const before = await stage.endState();
      const path = pathOf(stage.kind, (await stage.subject()) ?? fail('the sample is gone', 'do not delete it'));
      for (const label of ['a', 'b', null]) {
        const body = { metadata: { labels: { 'example.com/battery': label } } };
        await stage.client.request({ method: 'PATCH', path, contentType: mergePatch, body });
        // The message of an earlier change arrives after a later one: it has only the key.
        await stage.reconcile();
        await stage.reconcile();
      }
      await converged(stage);
      expectSame(await stage.endState(), before, 'after messages in another order', 'read the object, not the message');
    },
  },
  {
    name: 'a child whose deletion was missed is created again',
    needs: 'children',
    run: async (open) => {
      await using stage = await open();
      await converged(stage);
      const before = await stage.endState();
      const once = (await stage.children()).filter(({ kind }) => isCreatedOnce(stage, kind));
      for (const { kind, object } of await repaired(stage)) {
        // What is created once goes with its Namespace.
        const { name } = object.metadata;
        if (kind.kind === 'Namespace' && once.some((one) => one.object.metadata.namespace === name)) continue;
        await stage.client.request({ method: 'DELETE', path: pathOf(kind, object) });
        await converged(stage);
        expectSame(
          await stage.endState(),
          before,
          `after ${kind.kind} ${object.metadata.name} was deleted by another client`,
          applyEvery,
        );
      }
    },
  },
  {
    name: 'a child whose change was missed is corrected',
    needs: 'children',
    run: async (open) => {
      await using stage = await open();
      await converged(stage);
      const manager = fieldManagerOf(stage.controller.name);
      const end = await stage.endState();
      for (const { kind, object } of await repaired(stage)) {
        const { metadata: _, apiVersion: __, kind: ___, ...owned } = ownedFields(object, manager) ?? {};
        for (const body of [...driftsOf(owned), ...secretDrifts(kind, end[`Secret/${object.metadata.name}`])]) {
          const path = pathOf(kind, object);
          try {
            await stage.client.request({ method: 'PATCH', path, contentType: mergePatch, body });
          } catch (error) {
            // The API server refuses the value: 422 by its schema, 400 for a quantity.
            if (isInvalid(error) || (error instanceof ApiError && error.status === 400)) continue;
            throw error;
          }
          await stage.settle();
          // As a whole and without values that vary: a credential that somebody has edited is made anew.
          expectSame(
            await stage.endState(),
            end,
            `after another client changed ${kind.kind} ${object.metadata.name} to ${JSON.stringify(body)}`,
            applyEvery,
          );
        }
      }
    },
  },
  {
    name: 'a foreign object with the name of a child is not touched, and the status says NotOwned',
    needs: 'children',
    run: async (open) => {
      await using first = await open();
      await converged(first);
      const children = await first.children();
      for (const { kind, object } of children) {
        await using stage = await open();
        const { name, namespace } = object.metadata;
        if (children.some((one) => one.kind.kind === 'Namespace' && one.object.metadata.name === namespace)) {
          if (isCreatedOnce(stage, kind)) continue;
          // The controller makes its Namespace. Then the other client is faster with this child.
          await converged(stage);
          await stage.client.request({ method: 'DELETE', path: pathOf(kind, object) });
        }
        const content = ownedFields(object, fieldManagerOf(stage.controller.name));
        // One that nobody controls may be adopted.
        const isAdopted = stage.controller.declaration.allows?.adoption === true;
        const metadata = { name, namespace, ...(isAdopted ? { labels: { [controllerLabel]: 'another' } } : {}) };
        const foreign = { ...content, apiVersion: kind.apiVersion, kind: kind.kind, metadata };
        const placed = await applyObject(stage.client, kind, foreign, { fieldManager: 'another-client' });
        for (let time = 0; time < 3; time += 1) await stage.poll();
        const after = await getObject(stage.client, kind, object.metadata);
        const what = `${kind.kind} ${name} of another client`;
        if (after?.metadata.resourceVersion !== placed.metadata.resourceVersion) {
          fail(`${what} was changed or deleted`, 'write children by apply and applyAll, which adopt nothing');
        }
        if (!(await reported(stage)).includes(notOwned)) {
          const where = writesStatus(stage) ? 'the status does not report' : 'no Event reports';
          fail(`${where} ${what}`, 'do not catch the NotOwnedError of apply; the runtime reports it');
        }
      }
    },
  },
  {
    name: 'every request is allowed by the generated permissions',
    run: async (open) => {
      await using stage = await open();
      const denied = new Set<string>();
      let refusal: ApiError | undefined;
      const isAllowed = allowedBy(stage.controller);
      stage.disturb({
        api: async (request, proceed) => {
          if (!isAllowed(request)) denied.add(lineOf(request));
          return await proceed().catch((error: unknown) => {
            if (isPolicyDenied(error)) refusal ??= error;
            throw error;
          });
        },
      });
      await stage.settle();
      const lacked = lackedGrant(stage.controller);
      for (const { kind, object } of await stage.children()) {
        const permission = lacked(object);
        if (permission !== undefined)
          fail(
            `the API server refuses ${kind.kind} ${object.metadata.name}: ${stage.controller.name} lacks the ` +
              `permission to ${permission}, which it grants`,
            'declare it in `allows.grants` (not for URLs), or bind a ClusterRole of `allows.clusterRoles`',
          );
      }
      if (refusal === undefined) await removed(stage);
      if (refusal !== undefined) {
        fail(
          `a generated admission policy refuses a request: ${refusal.body?.message}`,
          'declare in `allows` what the children of the controller need',
        );
      }
      if (denied.size > 0) {
        fail(`not allowed by the generated role: ${[...denied].join(', ')}`, 'name the kind in owns, reads or watches');
      }
    },
  },
  {
    name: 'a deleted object is finalized once or twice with the same end',
    run: async (open) => {
      await using stage = await open();
      const left = await convergedBeforeDeletion(stage);
      await removed(stage);
      await expectLeft(stage, left, 'after the object was deleted');
      const outcome = await stage.reconcile();
      if (outcome.type !== 'nothing') {
        fail(`the reconcile of a deleted object ends as ${describe(outcome)}`, 'let finalize accept what is gone');
      }
    },
  },
  {
    name: 'an object that leaves the selection is finalized with the end of a deleted one',
    run: async (open, _, skip) => {
      await using stage = await open();
      const left = await convergedBeforeDeletion(stage);
      if (!(await deselected(stage))) return skip('the controller has no finalize, or no selector');
      await expectLeft(stage, left, 'after the object left the selection', `; ${lostKey}`);
    },
  },
  {
    name: 'an object that is deleted with --cascade=orphan does not wait for its former children',
    run: async (open, _, skip) => {
      await using stage = await open();
      if (!stage.controller.declaration.finalizes) return skip(noFinalize);
      await converged(stage);
      const change = 'in finalize wait for children with the owner reference of the object, not for all with a label';
      await removed(stage, { propagationPolicy: 'Orphan' }, change);
    },
  },
];

/** The beginning of the message of a NotOwnedError. */
const notOwned = 'already exists and is not controlled by this owner';
const events = { group: '', version: 'v1', plural: 'events', namespaced: true };

/** A controller of a kind that is not its own writes no status, unless it declares conditions. */
function writesStatus({ controller: { declaration } }: Stage): boolean {
  return declaration.resource.definition !== undefined || declaration.statusSlice !== undefined;
}

/** The check of a controller that deletes its objects. */
export const deletesSelfCheck: SampleCheck = {
  name: 'an object that deletes itself ends like a deleted one',
  run: async (open, _, skip) => {
    await using stage = await open();
    const left = await convergedBeforeDeletion(stage);
    const isThere = async () => {
      const object = await stage.subject();
      return object !== undefined && object.metadata.deletionTimestamp === undefined;
    };
    for (let time = 0; time < 10 && (await isThere()); time += 1) {
      stage.advance(requeueSeconds(await stage.reconcile(), stage.now()) ?? dayLaterSeconds);
    }
    if (await isThere()) return skip('the sample has not deleted itself by its tenth requeue; give one that does');
    await removed(stage);
    await expectLeft(stage, left, 'after the object deleted itself');
  },
};

/** The check of children that are created once. */
export const createdOnceCheck: SampleCheck = {
  name: 'a child that is created once is not created again after its deletion',
  run: async (open, _, skip) => {
    await using stage = await open();
    await converged(stage);
    const once = (await stage.children()).filter(({ kind }) => isCreatedOnce(stage, kind));
    if (once.length === 0) return skip('no child of a kind in createdOnce; give a sample with one');
    for (const { kind, object } of once) {
      await stage.client.request({ method: 'DELETE', path: pathOf(kind, object) });
      await converged(stage);
      if ((await getObject(stage.client, kind, object.metadata)) === undefined) continue;
      fail(
        `${kind.kind} ${object.metadata.name} was deleted and is created again`,
        'keep in the status what has run; for a child that is to be created again, leave its kind out of createdOnce',
      );
    }
  },
};

function isCreatedOnce({ options: { createdOnce } }: Stage, kind: Kind): boolean {
  return createdOnce.some((one) => one.kind === kind.kind);
}

/** Changes of a Secret's values, which are base64. One that varies was generated, and is kept where it is found. */
function secretDrifts({ group, kind }: Kind, state: unknown): readonly unknown[] {
  if (group !== '' || kind !== 'Secret') return [];
  const owned = isRecord(state) && isRecord(state.owned) ? state.owned : {};
  const values = Object.entries(isRecord(owned.data) ? owned.data : {});
  return values.filter(([, value]) => value !== varyingText).map(([name]) => ({ data: { [name]: btoa('drift') } }));
}

/** The children that every reconcile applies. */
export async function repaired(stage: Stage): ReturnType<Stage['children']> {
  return (await stage.children()).filter(({ kind }) => !isCreatedOnce(stage, kind));
}

/** What a user can see of the last reconcile: the status, or without one the Events. */
async function reported(stage: Stage): Promise<string> {
  if (writesStatus(stage)) return JSON.stringify((await stage.subject())?.status ?? {});
  const found: unknown[] = [];
  for await (const { items } of listPages(stage.client, events, {})) found.push(...items);
  return JSON.stringify(found);
}

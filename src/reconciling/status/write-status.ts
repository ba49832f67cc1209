// Writes the status of a reconcile: a server-side apply on /status, with the resource version that was read, and only
// if the status differs from the fields that the controller owns. After a conflict it is retried with a fresh version,
// if the input of the status is unchanged.
import { isRecord } from '../../core/json.ts';
import { isBuiltInGroup } from '../../core/kind-names.ts';
import { pausedAnnotation } from '../../core/names.ts';
import { applyStatus } from '../../kube/apply/apply.ts';
import { emptiedFields, removeFields } from '../../kube/apply/emptied.ts';
import { ownEntry } from '../../kube/apply/managed-fields.ts';
import { dropForeignFields, ownedEqual } from '../../kube/apply/owned-equal.ts';
import { isConflict } from '../../kube/client/errors.ts';
import type { KubeObject } from '../../kube/client/object.ts';
import { objectPath } from '../../kube/client/path.ts';
import { getObject } from '../../kube/client/read.ts';
import { asSent } from '../../kube/client/wire-text.ts';
import type { Identity, Pass } from '../pass/pass.ts';
import { ownedStatusOf, remnants } from './own-status.ts';
import type { Fields } from './status.ts';
import type { OwnedStatus } from './status-writer.ts';

/** Attempts to write one status while other writers make the version stale. */
const maxWrites = 3;

/**
 * Writes the status if it differs. After a conflict with a write of other fields (the status slice of another
 * controller, a label), the object is read again and the same status is written: its input is the same, so the
 * reconciler need not run again. If the input has changed, the conflict is thrown.
 */
export async function writeStatus(pass: Pass, status: OwnedStatus): Promise<void> {
  const { identity, client, primary, signal } = pass;
  const { declaration, fieldManager, statusWriter } = identity;
  if (!statusWriter.writesStatus) return;
  // As it is sent: undefined fields are absent, and a text that is stored otherwise is no difference. Fields that the
  // author copied from another writer are found by comparison with the object that the reconciler read. Compared with a
  // fresh object, an old copy would look like a change, and would overwrite the writer's new value.
  const sent = asSent({ status });
  const json = isRecord(sent) && isRecord(sent.status) ? sent.status : {};
  const wanted = dropForeignFields(json, primary.current(), fieldManager);
  for (let writes = 1; ; writes += 1) {
    try {
      return await applyIfChanged(pass, wanted);
    } catch (error) {
      if (!isConflict(error) || writes === maxWrites) throw error;
      const fresh = await getObject(client, declaration.resource, primary.current().metadata, { signal });
      if (fresh === undefined || !hasSameInputs(primary.current(), fresh, identity)) throw error;
      primary.replace(fresh);
    }
  }
}

/** Gives up all status fields of the controller's field manager: an apply without them. */
export async function giveUpStatus(pass: Pass): Promise<void> {
  if (pass.identity.statusWriter.writesStatus) await applyIfChanged(pass, {});
}

async function applyIfChanged(pass: Pass, wanted: Fields): Promise<void> {
  const { identity, client, primary, log, signal } = pass;
  const { fieldManager, statusWriter, declaration } = identity;
  const { resource } = declaration;
  const object = primary.current();
  const left = remnants(wanted, object, fieldManager, statusWriter.own);
  if (left.length === 0 && isStored(wanted, pass)) return;
  const of = { fieldManager, subresource: 'status' };
  const emptied = isEmpty(wanted) ? [] : emptiedFields({ status: wanted }, object, of);
  const removed = [...left, ...emptied];
  if (removed.length > 0) {
    const path = objectPath(resource, object.metadata, 'status');
    primary.written(await removeFields(client, path, object.metadata, removed, { fieldManager, signal }));
    if (isStored(wanted, pass)) return;
  }
  const { resourceVersion = '', uid } = primary.current().metadata;
  const { apiVersion, kind } = resource;
  const target = { apiVersion, kind, key: object.metadata, resourceVersion, uid };
  // Of an empty one the API server would make null, which it refuses.
  const status = isEmpty(wanted) ? undefined : wanted;
  const returned = await applyStatus(client, resource, target, status, { fieldManager, signal });
  if (primary.written(returned) === 'no-op') log.warn('apply changed nothing', { noopApplies: 1 });
}

/** Returns whether the status is in the object, and is recorded as the manager's. */
function isStored(wanted: Fields, { identity, primary }: Pass): boolean {
  const { fieldManager, declaration } = identity;
  const object = primary.current();
  if (ownEntry(object, fieldManager, 'status') === undefined && !isEmpty(wanted)) return false;
  // A built-in kind leaves out empty values.
  const isBuiltIn = isBuiltInGroup(declaration.resource.group);
  return ownedEqual(wanted, primary.ownedStatus(), { isBuiltIn, live: object.status });
}

function isEmpty(fields: Fields): boolean {
  return Object.keys(fields).length === 0;
}

/** Returns whether a reconcile of the fresh object would have the same input as that of the last one. */
function hasSameInputs(last: KubeObject, fresh: KubeObject, identity: Identity): boolean {
  const { fieldManager, finalizer, statusWriter } = identity;
  const [a, b] = [last.metadata, fresh.metadata];
  // An object whose finalizer another client removed gets it again.
  if (a.finalizers?.includes(finalizer) !== b.finalizers?.includes(finalizer)) return false;
  // Without a generation it is unknown whether the rest of the object is the same. A deletion raises it, too.
  const isSame = a.uid === b.uid && a.generation !== undefined && a.generation === b.generation;
  const isPaused = b.annotations?.[pausedAnnotation] === 'true';
  const [owned, freshOwned] = [last, fresh].map((one) => ownedStatusOf(one, fieldManager, statusWriter.own));
  return isSame && !isPaused && ownedEqual({ ...owned }, freshOwned, { isBuiltIn: false });
}

// The children of a controller's sample. A controller that owns a kind and has no child of it in its sample fails, because the suite would
// prove nothing about that kind.
import type { Kind } from '../../src/api/kind.ts';
import { fieldManagerOf } from '../../src/core/names.ts';
import { ownedFields } from '../../src/kube/apply/managed-fields.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import type { Fixture } from './system.ts';
import type { Call } from './wire.ts';

/** A child, and the fields that its controller applies. */
export type Child = {
  readonly kind: Kind;
  readonly name: string;
  readonly path: string;
  readonly live: KubeObject;
  /** The fields that its controller owns, metadata included. */
  readonly owned: Readonly<Record<string, unknown>>;
};

/** Lists the subject's children, at least one of each kind that its controller owns. */
export async function childrenOf(system: Fixture): Promise<readonly Child[]> {
  const { uid } = (await system.subject()).metadata;
  const { name: controller, declaration } = system.controller;
  const children: Child[] = [];
  for (const kind of declaration.owns) {
    const live = (await system.list(kind)).filter(({ metadata }) =>
      metadata.ownerReferences?.some((one) => one.controller === true && one.uid === uid),
    );
    if (live.length === 0) throw new Error(`controller ${controller} owns ${kind.kind}, but its sample makes none`);
    for (const object of live) {
      const { name, namespace } = object.metadata;
      const path = objectPath(kind, { name, namespace });
      children.push({ kind, name, path, live: object, owned: ownedFields(object, fieldManagerOf(controller)) ?? {} });
    }
  }
  return children;
}

/** Returns whether a request is about an object: the object itself or one of its subresources. */
export function isAbout({ path }: Child | { readonly path: string }): (call: Call) => boolean {
  return (call) => call.path === path || call.path.startsWith(`${path}/`);
}

/** Returns whether a write creates or changes an object other than the subject. */
export function isChildWrite({ kind, name, namespace }: Fixture): (call: Call) => boolean {
  const own = isAbout({ path: objectPath(kind, { name, namespace }) });
  return (call) => call.method !== 'GET' && !own(call) && !/\/events(\/|$)/.test(call.path);
}

// What a controller's sample makes of other kinds. A controller that declares a kind and whose sample makes none of it fails: the
// suite would prove nothing.
import type { Kind } from '../../src/core/kind.ts';
import { fieldManagerOf } from '../../src/core/names.ts';
import { ownedBy } from '../../src/kube/apply/managed-fields.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import type { Stage } from './system.ts';
import type { Call } from './wire.ts';

/** A child, and what its controller says of it. */
export type Child = {
  readonly kind: Kind;
  readonly name: string;
  readonly path: string;
  readonly live: KubeObject;
  /** What its controller owns of it, metadata included. */
  readonly owned: Readonly<Record<string, unknown>>;
};

/** Lists the subject's children, at least one of each kind that its controller owns. */
export async function childrenOf(stage: Stage): Promise<readonly Child[]> {
  const { uid } = (await stage.subject()).metadata;
  const { name: controller, declares } = stage.controller;
  const children: Child[] = [];
  for (const kind of declares.owns) {
    const live = (await stage.list(kind)).filter(({ metadata }) =>
      metadata.ownerReferences?.some((one) => one.controller === true && one.uid === uid),
    );
    if (live.length === 0) throw new Error(`controller ${controller} owns ${kind.kind}, but its sample makes none`);
    for (const object of live) {
      const { name, namespace } = object.metadata;
      const path = objectPath(kind, { name, namespace });
      children.push({ kind, name, path, live: object, owned: ownedBy(object, fieldManagerOf(controller)) ?? {} });
    }
  }
  return children;
}

/** Tells whether a request is about an object: the object itself or a subresource of it. */
export function isAbout({ path }: Child | { readonly path: string }): (call: Call) => boolean {
  return (call) => call.path === path || call.path.startsWith(`${path}/`);
}

/** Tells whether a write makes or changes something other than the subject. */
export function isChildWrite({ kind, name, namespace }: Stage): (call: Call) => boolean {
  const own = isAbout({ path: objectPath(kind, { name, namespace }) });
  return (call) => call.method !== 'GET' && !own(call) && !/\/events(\/|$)/.test(call.path);
}

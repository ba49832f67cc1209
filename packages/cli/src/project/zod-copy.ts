// The schemas of a registry must be made by the zod that Outrigger has. What a schema says about itself (`refersTo`,
// a description, a rule) is in a registry of its zod. With a second copy, such as zod 3.25 with its `zod/v4`, none of
// it is found: a CRD without its rules and without the admission policy of its Secrets would be generated.

import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { SchemaError } from 'outrigger/internal/core/errors';
import { isRecord } from 'outrigger/internal/core/json';
import * as z from 'zod';

/** A schema of another zod. */
export class ZodCopyError extends SchemaError {}

type Kind = { readonly kind: string; readonly definition?: { readonly spec: unknown; readonly status: unknown } };

/** Throws a ZodCopyError for the first schema of another zod, in a kind or in the settings of a controller. */
export function requireOneZod(registry: readonly ControllerDefinition[], kinds: readonly Kind[] = []): void {
  for (const { kind, definition } of [...registry.map(({ declaration: { resource } }) => resource), ...kinds]) {
    if (definition === undefined) continue;
    check(definition.spec, `${kind}.spec`);
    check(definition.status, `${kind}.status`);
  }
  for (const { name, declaration } of registry)
    if (declaration.settings !== undefined) check(declaration.settings, `${name}.settings`);
}

/** The version that a schema must have. */
const ours = versionText(z.core.version);

function check(given: unknown, path: string, seen = new Set<unknown>()): void {
  if (!isRecord(given) || seen.has(given)) return;
  seen.add(given);
  const { _zod: internals } = given;
  const version = isRecord(internals) ? versionText(internals.version) : 'before 4';
  if (version !== ours)
    throw new ZodCopyError(
      path,
      `is a schema of another zod (${version}) than that of Outrigger (${ours}), so its meta is lost; ` +
        `have one zod in the project: npm install --save-exact zod@${ours}`,
    );
  for (const [name, below] of schemasBelow(internals)) check(below, `${path}${name}`, seen);
}

/** The schemas in a schema: in the fields of an object, in lists, and behind the function of a lazy one. */
function schemasBelow(internals: unknown): readonly (readonly [name: string, schema: unknown])[] {
  const def = isRecord(internals) && isRecord(internals.def) ? internals.def : {};
  const below: (readonly [string, unknown])[] = [];
  for (const [key, value] of Object.entries(def)) {
    if (key === 'shape' && isRecord(value))
      for (const [name, field] of Object.entries(value)) below.push([`.${name}`, field]);
    const found = key === 'getter' && typeof value === 'function' ? value() : value;
    for (const one of Array.isArray(found) ? found : [found]) if (isSchema(one)) below.push(['', one]);
  }
  return below;
}

function isSchema(value: unknown): boolean {
  return isRecord(value) && (isRecord(value._zod) || isRecord(value._def)) && 'safeParse' in value;
}

function versionText(version: unknown): string {
  if (!isRecord(version)) return 'before 4';
  return [version.major, version.minor, version.patch].map(String).join('.');
}

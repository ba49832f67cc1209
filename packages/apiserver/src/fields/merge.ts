// Merges an applied configuration into an object. Applied fields replace live ones, lists of type map merge by their
// keys, and the applied items keep the order of the configuration.
import { type Json, type JsonObject, ownField, setField } from '../json.ts';
import type { Schema } from '../schema/schema.ts';
import { fieldShape, type ItemsShape, isEmptyValue, schemaBelow } from './shape.ts';

/** Returns `live` with `config` merged into it. */
export function mergeApplied(live: Json | undefined, config: Json | undefined, schema: Schema): Json {
  if (config === undefined) return live ?? null;
  if (live === undefined) return config;
  const [left, right] = [fieldShape(live, schema), fieldShape(config, schema)];
  if (left.is === 'fields' && right.is === 'fields') return mergeFields(left.fields, right.fields, schema);
  if (left.is === 'items' && right.is === 'items') return mergeItems(left, right);
  // A null is merged as an empty map or list, unless the live one is empty too.
  if (config === null && left.is !== 'leaf' && !isEmptyValue(live)) return live;
  return config;
}

function mergeFields(live: JsonObject, config: JsonObject, schema: Schema): JsonObject {
  const merged: Record<string, Json> = { ...live };
  for (const [field, value] of Object.entries(config)) {
    setField(merged, field, mergeApplied(ownField(live, field), value, schemaBelow(schema, field)));
  }
  return merged;
}

/**
 * Merges items as structured-merge-diff does (typed/merge.go, visitListItems): in live order, except where the
 * configuration differs.
 */
function mergeItems(live: ItemsShape, config: ItemsShape): readonly Json[] {
  const left = live.items.map((item) => live.element(item));
  const right = config.items.map((item) => config.element(item));
  const [inLeft, inRight] = [indexed(left, live.items), indexed(right, config.items)];
  const shared = right.filter((element) => inLeft.has(element));
  const merged = new Set<string>();
  const out: Json[] = [];
  const take = (element: string, fromLeft: Json | undefined, fromRight: Json | undefined): void => {
    if (fromRight !== undefined) merged.add(element);
    out.push(mergeApplied(fromLeft, fromRight, live.schema));
    if (shared[0] === element) shared.shift();
  };
  let [l, r] = [0, 0];
  while (l < left.length || r < right.length) {
    const [liveElement, appliedElement] = [left[l], right[r]];
    if (liveElement !== undefined && appliedElement !== undefined) {
      if (liveElement === appliedElement) {
        take(liveElement, inLeft.get(liveElement), inRight.get(liveElement));
        l++;
        r++;
        continue;
      }
      // The configuration has this shared item at a later position.
      if (inRight.has(liveElement) && shared[0] !== undefined && shared[0] !== liveElement) {
        l++;
        continue;
      }
    }
    if (liveElement !== undefined) {
      if (!inRight.has(liveElement)) {
        out.push(live.items[l] ?? null);
        l++;
        continue;
      }
      if (merged.has(liveElement)) l++;
    }
    if (appliedElement !== undefined) {
      take(appliedElement, inLeft.get(appliedElement), inRight.get(appliedElement));
      r++;
    }
  }
  return out;
}

function indexed(elements: readonly string[], items: readonly Json[]): ReadonlyMap<string, Json> {
  return new Map(elements.map((element, index) => [element, items[index] ?? null]));
}

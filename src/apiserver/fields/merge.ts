// Lays an applied configuration over an object: fields win one by one, lists with keys merge by their keys, and an applied
// order of items is respected among those it names.
import { isList, isObject, type Json, type JsonObject } from '../json.ts';
import type { Schema } from '../schema/schema.ts';
import { type ItemsShape, isHollow, schemaBelow, shapeOf } from './shape.ts';

/** Returns `live` with `config` laid over it. */
export function mergeApplied(live: Json | undefined, config: Json | undefined, schema: Schema): Json {
  if (config === undefined) return live ?? null;
  if (live === undefined) return config;
  const [left, right] = [shapeOf(live, schema), shapeOf(config, schema)];
  if (left.is === 'fields' && right.is === 'fields') return mergeFields(left.fields, right.fields, schema);
  if (left.is === 'items' && right.is === 'items') return mergeItems(left, right);
  // An empty value beside a full one says nothing; only two empty ones are compared as they are.
  if (isHollow(config) && ((isObject(config) && isObject(live)) || (right.is === 'items' && isList(live)))) return live;
  return config;
}

function mergeFields(live: JsonObject, config: JsonObject, schema: Schema): JsonObject {
  const merged: Record<string, Json> = { ...live };
  for (const [field, value] of Object.entries(config)) {
    merged[field] = mergeApplied(live[field], value, schemaBelow(schema, field));
  }
  return merged;
}

/** Merges as structured-merge-diff does (typed/merge.go, visitListItems): live order, unless the configuration has another. */
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
    const [ours, theirs] = [left[l], right[r]];
    if (ours !== undefined && theirs !== undefined) {
      if (ours === theirs) {
        take(ours, inLeft.get(ours), inRight.get(ours));
        l++;
        r++;
        continue;
      }
      // A shared item whose turn the configuration puts later.
      if (inRight.has(ours) && shared[0] !== undefined && shared[0] !== ours) {
        l++;
        continue;
      }
    }
    if (ours !== undefined) {
      if (!inRight.has(ours)) {
        out.push(live.items[l] ?? null);
        l++;
        continue;
      }
      if (merged.has(ours)) l++;
    }
    if (theirs !== undefined) {
      take(theirs, inLeft.get(theirs), inRight.get(theirs));
      r++;
    }
  }
  return out;
}

function indexed(elements: readonly string[], items: readonly Json[]): ReadonlyMap<string, Json> {
  return new Map(elements.map((element, index) => [element, items[index] ?? null]));
}

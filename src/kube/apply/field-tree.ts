// The fields of one manager as a tree (fieldsV1, structured-merge-diff's fieldpath.Set), and how it is edited: `f:` is
// a field, `k:` a list item by key, `v:` a member of a set, `.` the field itself, and `{}` the end of a path. The
// functions change the trees that they are given.
import { isRecord } from '../../core/json.ts';

/** The fields of a manager below one step of their paths. */
export type FieldTree = { [step: string]: FieldTree };

/** An autoscaler sets it. It is never taken from its manager: a controller that drops it hands it over. */
const replicas = 'f:spec.f:replicas';

/** Returns a copy of fieldsV1 to edit. */
export function treeOf(fieldsV1: unknown): FieldTree {
  if (!isRecord(fieldsV1)) return {};
  return Object.fromEntries(Object.entries(fieldsV1).map(([step, below]) => [step, treeOf(below)]));
}

export function isEmptyTree(tree: FieldTree): boolean {
  return Object.keys(tree).length === 0;
}

/** Returns the dotted paths of the ends of a tree. */
export function pathsBelow(tree: FieldTree): readonly string[] {
  return Object.entries(tree).flatMap(([step, below]) => {
    const inner = pathsBelow(below);
    const name = step.startsWith('f:') ? step.slice('f:'.length) : step;
    return inner.length === 0 ? [name] : inner.map((rest) => `${name}.${rest}`);
  });
}

/** Adds the fields of a tree to another. */
export function unite(into: FieldTree, from: FieldTree): void {
  for (const [step, below] of Object.entries(from)) {
    const known = childOf(into, step);
    if (known === undefined) {
      into[step] = treeOf(below);
      continue;
    }
    // One of them ends here, so both the field itself and what is below it are owned.
    if (isEmptyTree(known) !== isEmptyTree(below)) known['.'] = {};
    unite(known, below);
  }
}

/**
 * Moves everything at and below a path of names to the controller's tree. Lists on the way are transparent: the path
 * goes on in each item. Returns whether there was something.
 */
export function moveFields(theirs: FieldTree, ours: FieldTree, path: readonly string[]): boolean {
  const [name, ...rest] = path;
  if (name === undefined) return false;
  const items = Object.keys(theirs).filter((step) => step.startsWith('k:'));
  if (items.length === 0) return moveStep(theirs, ours, `f:${name}`, rest);
  return items.map((item) => moveStep(theirs, ours, item, path)).some((isMoved) => isMoved);
}

function moveStep(theirs: FieldTree, ours: FieldTree, step: string, path: readonly string[]): boolean {
  const from = childOf(theirs, step);
  if (from === undefined) return false;
  if (path.length === 0) {
    unite(ours, { [step]: from });
    delete theirs[step];
    return true;
  }
  const to: FieldTree = {};
  if (!moveFields(from, to, path)) return false;
  unite(ours, { [step]: to });
  if (isEmptyTree(from)) delete theirs[step];
  return true;
}

/**
 * Removes from another tree what the controller owns and no longer desires, so that the next apply removes it from the
 * object. Returns whether there was something.
 */
export function stripDropped(theirs: FieldTree, ours: FieldTree, desired: unknown, path = ''): boolean {
  let isStripped = false;
  for (const [step, own] of Object.entries(ours)) {
    const there = childOf(theirs, step);
    if (there === undefined || step === '.' || `${path}${step}` === replicas) continue;
    const wanted = valueAtStep(desired, step);
    const isDropped = wanted === undefined || wanted === null;
    const isItem = !step.startsWith('f:');
    if (isDropped && (isItem || isEmptyTree(own))) {
      // An item goes as a whole: without its own `.` the server would leave the rest of it, an item without a key.
      if (isItem) unite(own, there);
      delete theirs[step];
      isStripped = true;
      continue;
    }
    const isInner = stripDropped(there, own, wanted, `${path}${step}.`);
    const left = Object.keys(there);
    const isGone = isDropped && Object.hasOwn(own, '.') && left.every((one) => one === '.');
    if (isGone || (isInner && left.length === 0)) delete theirs[step];
    isStripped ||= isInner || isGone;
  }
  return isStripped;
}

/**
 * Adds to the controller's tree what is live at a path and not desired, whoever owns it, so that the next apply removes
 * it. Goes through the list items that the controller owns and desires. Returns whether there was something.
 */
export function claimFields(ours: FieldTree, live: unknown, desired: unknown, path: readonly string[]): boolean {
  if (Array.isArray(live)) {
    const items = Object.entries(ours).filter(([step]) => step.startsWith('k:'));
    return items
      .map(([step, own]) => {
        const wanted = valueAtStep(desired, step);
        return wanted !== undefined && claimFields(own, valueAtStep(live, step), wanted, path);
      })
      .some((isClaimed) => isClaimed);
  }
  const [name, ...rest] = path;
  if (name === undefined || !isRecord(live) || !Object.hasOwn(live, name)) return false;
  const step = `f:${name}`;
  const wanted = valueAtStep(desired, step);
  const own = childOf(ours, step);
  if (rest.length === 0) {
    if (wanted !== undefined && wanted !== null) return false;
    return claimEnd(ours, step, live[name]);
  }
  const below = own ?? {};
  const isClaimed = claimFields(below, live[name], wanted, rest);
  if (isClaimed) ours[step] = below;
  return isClaimed;
}

function claimEnd(ours: FieldTree, step: string, live: unknown): boolean {
  const own = childOf(ours, step);
  if (own === undefined) {
    ours[step] = {};
    return true;
  }
  if (!isRecord(live) || Object.keys(own).every((one) => one === '.')) return false;
  const missing = Object.keys(live).filter((name) => !Object.hasOwn(own, `f:${name}`));
  for (const name of missing) own[`f:${name}`] = {};
  return missing.length > 0;
}

function childOf(tree: FieldTree, step: string): FieldTree | undefined {
  return Object.hasOwn(tree, step) ? tree[step] : undefined;
}

/** Returns the value of a desired object, or the item of a desired list, to which a step leads. */
export function valueAtStep(value: unknown, step: string): unknown {
  const rest = step.slice('f:'.length);
  if (step.startsWith('f:')) return isRecord(value) && Object.hasOwn(value, rest) ? value[rest] : undefined;
  if (!Array.isArray(value)) return undefined;
  const key: unknown = JSON.parse(rest);
  if (step.startsWith('v:')) return value.includes(key) ? key : undefined;
  return isRecord(key) ? value.find((item) => hasKey(item, key)) : undefined;
}

/** A field of the key that the item does not give has its default, which for a port is TCP. */
function hasKey(item: unknown, key: Readonly<Record<string, unknown>>): boolean {
  if (!isRecord(item)) return false;
  return Object.entries(key).every(([name, value]) => {
    const given = item[name];
    return given === value || (given === undefined && (name !== 'protocol' || value === 'TCP'));
  });
}

// The checks with other clients that write to the children (foreign-writer.ts): after each round of writes a child is
// what the controller says, and what a changed spec has dropped is gone. What the controller never set is left to
// others, and so is what another manager applies.
import type { Kind } from '../../api/kind.ts';
import { isRecord } from '../../core/json.ts';
import { fieldManagerOf } from '../../core/names.ts';
import type { KubeObject } from '../../kube/client/object.ts';
import { repaired } from './change-checks.ts';
import { type Random, randomOf, writeAtRandom } from './foreign-writer.ts';
import { converged, describe, expectSame, fail } from './report.ts';
import { expectEnd, refusalOf, runsOf, type SampleRuns } from './spec-change.ts';
import { isWrite, lineOf, type SampleCheck, type Stage } from './stage.ts';

/** The seed of the writes, and how many rounds of them there are. */
export type ForeignWriting = { readonly seed: number; readonly rounds: number };

/** The names of the checks, without their samples. */
export const foreignWritersName = 'children that other clients write to are what the controller says';
export const droppedName = 'what a changed spec drops is gone from children that other clients write to';

const applyAll =
  'apply every child with all of its fields in every reconcile, by apply or applyAll of the context; a client of ' +
  'your own repairs nothing; leave a field out that others shall set';

/** Makes the check of the children of one sample. */
export function foreignWritersCheck({ seed, rounds }: ForeignWriting): SampleCheck {
  return {
    name: foreignWritersName,
    needs: 'children',
    run: async (open, calm, skip) => {
      const wanted = await calm();
      await using stage = await open();
      await converged(stage);
      const random = randomOf(seed);
      let written = 0;
      for (let round = 1; round <= rounds; round += 1) {
        const when = await writeAndSettle(stage, random, { seed, round });
        if (when === undefined) continue;
        written += 1;
        expectSame(await stage.endState(), wanted, when, `${applyAll}; ${again(seed)}`);
      }
      if (written === 0) skip('all children are created once, so no other client wrote to one');
    },
  };
}

/**
 * Writes to the children of an object that is changed from one sample into another and back. Returns why that was not
 * checked, if the API server refuses the change, or nothing is dropped by it.
 */
export async function checkDropped(
  from: SampleRuns,
  to: SampleRuns,
  { seed, rounds, keeps }: ForeignWriting & { readonly keeps: readonly Kind[] },
): Promise<string | undefined> {
  const runs = new Map([
    [from, await runsOf(from)],
    [to, await runsOf(to)],
  ]);
  const calm = new Map([
    [from, await childrenOf(from)],
    [to, await childrenOf(to)],
  ]);
  await using stage = await from.openUnmasked();
  await converged(stage);
  const random = randomOf(seed);
  let [now, next] = [from, to];
  let dropped = 0;
  for (let round = 1; round <= rounds; round += 1) {
    const [nowRuns, nextRuns] = [runs.get(now), runs.get(next)];
    if (nowRuns === undefined || nextRuns === undefined) break;
    const advice = `${applyAll}; ${again(seed)}`;
    const when = (await writeAndSettle(stage, random, { seed, round })) ?? `in round ${round}`;
    await expectEnd(stage, { runs: nowRuns, keeps, after: when, advice });
    const before = await stage.children();
    const refusal = await refusalOf(stage.apply(next.sample));
    if (refusal !== undefined) return `the API server refuses the change to ${next.label}: ${refusal}`;
    await converged(stage);
    const after = `${when}, and it was changed to ${next.label}`;
    await expectEnd(stage, { runs: nextRuns, keeps, after, advice });
    for (const child of await stage.children()) {
      const former = before.find(
        ({ object }) => nameOf(object) === nameOf(child.object) && isSame(object, child.object),
      );
      const isFree = [...stage.options.createdOnce, ...keeps].some(({ kind }) => kind === child.kind.kind);
      if (former === undefined || isFree) continue;
      const reference = calm.get(next)?.get(`${child.kind.kind} ${nameOf(child.object)}`);
      const manager = fieldManagerOf(stage.controller.name);
      const paths = droppedPaths(former.object, child.object, manager);
      dropped += paths.length;
      const left = paths.find((path) => has(child.object, path) && reference !== undefined && !has(reference, path));
      if (left === undefined) continue;
      fail(
        `${after}, ${child.kind.kind} ${child.object.metadata.name} still has ${left.join('.')}, which only ` +
          `${now.label} asks for`,
        advice,
      );
    }
    [now, next] = [next, now];
  }
  return dropped === 0 ? `${from.label} and ${to.label} have the same fields in their children` : undefined;
}

/** Lets others write, and reconciles. Returns what they did, in words; undefined if they did nothing. */
async function writeAndSettle(
  stage: Stage,
  random: Random,
  { seed, round }: { readonly seed: number; readonly round: number },
): Promise<string | undefined> {
  const children = await repaired(stage);
  if (children.length === 0) return undefined;
  const written = await writeAtRandom(stage, children, random);
  if (written.length === 0) return undefined;
  const when = `after ${written.join(', then ')} (seed ${seed}, round ${round})`;
  if ((await stage.settle()) !== undefined) return when;
  const outcome = await stage.reconcile();
  const writes = stage.requests.filter(isWrite).map(lineOf);
  const what = outcome.type === 'done' ? `every reconcile writes again: ${writes.join(', ')}` : describe(outcome);
  fail(`${when}, the object does not converge: ${what}`, `${applyAll}; ${again(seed)}`);
}

function again(seed: number): string {
  return `to repeat these writes, give the battery foreignWriters: { seed: ${seed} }`;
}

/** The children of a run without other writers, by kind and name. */
async function childrenOf({ openUnmasked }: SampleRuns): Promise<ReadonlyMap<string, KubeObject>> {
  await using stage = await openUnmasked();
  await converged(stage);
  const children = await stage.children();
  return new Map(children.map(({ kind, object }) => [`${kind.kind} ${nameOf(object)}`, object]));
}

function nameOf({ metadata: { name, namespace = '' } }: KubeObject): string {
  return `${namespace}/${name}`;
}

function isSame(one: KubeObject, other: KubeObject): boolean {
  return one.metadata.uid === other.metadata.uid;
}

type Path = readonly string[];

/** An autoscaler may have it by now. */
const handedOver = 'f:spec f:replicas';

/** The fields that the controller applied before and no longer applies, without those that another manager applies. */
function droppedPaths(before: KubeObject, after: KubeObject, manager: string): readonly Path[] {
  const applied = (object: KubeObject, isOurs: boolean) =>
    (object.metadata.managedFields ?? [])
      .filter((one) => one.operation === 'Apply' && one.subresource === undefined)
      .filter((one) => (one.manager === manager) === isOurs)
      .flatMap(({ fieldsV1 }) => leavesOf(fieldsV1));
  const kept = new Set([...applied(after, true), ...applied(after, false)].map((path) => path.join(' ')));
  return applied(before, true).filter((path) => {
    const text = path.join(' ');
    return !kept.has(text) && text !== handedOver && path[0] !== 'f:metadata';
  });
}

/** The ends of the paths of an entry of managedFields. */
function leavesOf(fields: unknown, at: Path = []): readonly Path[] {
  const steps = isRecord(fields) ? Object.entries(fields).filter(([step]) => step !== '.') : [];
  return steps.length === 0 ? [at] : steps.flatMap(([step, below]) => leavesOf(below, [...at, step]));
}

/** Returns whether an object has a path of managedFields. */
function has(value: unknown, [step, ...rest]: Path): boolean {
  if (step === undefined) return value !== undefined;
  if (step.startsWith('f:')) return isRecord(value) && has(value[step.slice('f:'.length)], rest);
  if (!Array.isArray(value)) return false;
  if (step.startsWith('i:')) return has(value[Number(step.slice('i:'.length))], rest);
  const key: unknown = JSON.parse(step.slice('k:'.length));
  return value.some((item) => (isRecord(key) ? isItem(item, key) && has(item, rest) : item === key));
}

function isItem(item: unknown, key: Readonly<Record<string, unknown>>): boolean {
  return isRecord(item) && Object.entries(key).every(([name, value]) => item[name] === value);
}

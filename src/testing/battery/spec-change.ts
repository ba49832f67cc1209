// The check of a changed spec: an object that is changed from one sample into another must end like an object that was
// the other one from the start, and back. It finds a child that is not pruned, and a spec that is read only once.
import { isDeepStrictEqual } from 'node:util';
import type { Kind } from '../../api/kind.ts';
import { UserError } from '../../core/errors.ts';
import { isRecord } from '../../core/json.ts';
import { predicateOf } from '../../generate/changing-kinds.ts';
import { ApiError } from '../../kube/client/errors.ts';
import type { KubeObject } from '../../kube/client/object.ts';
import { crashAfterWrite, mostCalls } from './fault-checks.ts';
import { converged, expectSame, fail, firstDifference, giveCreatedOnce, text } from './report.ts';
import type { Stage } from './stage.ts';
import type { EndState } from './varying.ts';
import { maskVarying, type TwoRuns } from './varying.ts';

/** A sample, its stages, and how it ends without faults. */
export type SampleRuns = {
  readonly sample: object;
  /** How messages name it: `sample 2`. */
  readonly label: string;
  /** A stage whose end state is masked by the two runs. */
  open(): Promise<Stage>;
  openUnmasked(): Promise<Stage>;
  /** The end states of two runs; undefined if the sample does not converge. */
  runs(): Promise<TwoRuns | undefined>;
  /** The masked end state of a run without faults. Rejects as a check does if the sample does not converge. */
  calm(): Promise<EndState>;
};

/** The name of the check, without its samples. */
export const specChangeName = 'an object whose spec changes ends like one that had it from the start';

const readSpec =
  'apply what the spec of this reconcile asks for, let applyAll delete the rest, and keep nothing of an earlier spec';
const askForMetadata =
  "declare changes: 'metadata' if reconcile reads labels or annotations: by default a change of them is not sent";
const rememberFirst =
  'a status that was not written is no memory: derive names from the uid of the object, or make the spec immutable';
const giveKeeps = 'for children that stay, or keep their content, on purpose, give the battery keeps';
const readSpecOrKeep = `${readSpec}; ${giveKeeps}; ${giveCreatedOnce}`;

/** Gives a sample the name and the namespace of another one. */
export function renamed(sample: object, other: object): object {
  const { namespace: _, ...metadata } = recordIn(sample, 'metadata');
  const { name, namespace } = recordIn(other, 'metadata');
  return { ...sample, metadata: { ...metadata, name, ...(namespace === undefined ? {} : { namespace }) } };
}

/** What the author says of a changed spec. */
export type SpecChangeOptions = {
  /** Whether a change may have effects that neither an object nor `state()` shows. */
  readonly actsUnseen: boolean;
  /** Kinds of children that may be left of an earlier spec. */
  readonly keeps: readonly Kind[];
};

/**
 * Changes `from` into `to`, which has the same name, and back. Returns why that was not checked, if the API server
 * refuses a change, such as that of an immutable field, or the samples differ by name alone.
 */
export async function checkSpecChange(
  from: SampleRuns,
  to: SampleRuns,
  { actsUnseen, keeps }: SpecChangeOptions,
): Promise<string | undefined> {
  const [fromRuns, toRuns] = [await runsOf(from), await runsOf(to)];
  await using stage = await from.openUnmasked();
  await converged(stage);
  const steps = [
    { old: from, next: to, runs: toRuns },
    { old: to, next: from, runs: fromRuns },
  ];
  for (const { old, next, runs } of steps) {
    const change = `${stage.kind.kind} ${stage.key.name} was changed from ${old.label} to ${next.label}`;
    const before = await stage.subject();
    const refusal = await refusalOf(stage.apply(next.sample));
    if (refusal !== undefined) return `the API server refuses that ${change}: ${refusal}`;
    const changed = await stage.subject();
    if (isDeepStrictEqual(contentOf(changed), contentOf(before))) return `${from.label} and ${to.label} are equal`;
    // The watcher does not send a change of labels and annotations alone.
    const isSent =
      predicateOf(stage.controller.declaration) !== 'generation' ||
      changed?.metadata.generation !== before?.metadata.generation;
    if (isSent) await converged(stage);
    await expectEnd(stage, { runs, keeps, after: `after ${change}`, advice: isSent ? readSpecOrKeep : askForMetadata });
  }
  await checkChangeAfterCrash(from, to, { runs: toRuns, keeps });
  if (!isDeepStrictEqual(maskVarying(fromRuns[0], fromRuns), maskVarying(toRuns[0], toRuns))) return undefined;
  const effect = `${from.label} and ${to.label} differ, but their children and status are the same`;
  if (actsUnseen && (await stage.outsideState()) === undefined)
    return `${effect}; give the state() of the outside system`;
  if ((await stage.settle())?.type === 'terminal') return `${effect}; both may end in a TerminalError`;
  const [varying] = firstDifference(...toRuns);
  const unless = isDeepStrictEqual(...toRuns)
    ? ''
    : `, apart from what varies between two runs of a sample, such as ${varying}`;
  fail(
    `${effect} for ${stage.kind.kind} ${stage.key.name}${unless}`,
    `${readSpec}; if its effect is due later, give the battery sampleAgeSeconds; if it has none on purpose, give ` +
      'samples that differ in their children or status',
  );
}

/** A crash loses the status of a reconcile, and its retry has the new spec. */
async function checkChangeAfterCrash(
  from: SampleRuns,
  to: SampleRuns,
  { runs, keeps }: { readonly runs: TwoRuns; readonly keeps: readonly Kind[] },
): Promise<void> {
  for (let write = 1; write <= mostCalls; write += 1) {
    await using stage = await from.openUnmasked();
    const died = crashAfterWrite(stage, write);
    await stage.reconcile();
    stage.disturb();
    const last = died();
    if (last === undefined) return;
    await stage.apply(to.sample);
    await converged(stage);
    const change = `crashed right after ${last} and was changed from ${from.label} to ${to.label}`;
    const after = `after ${stage.kind.kind} ${stage.key.name} ${change}`;
    await expectEnd(stage, { runs, keeps, after, advice: rememberFirst });
  }
}

/** Fails unless the object has ended as one that had its spec from the start. */
export async function expectEnd(
  stage: Stage,
  {
    runs,
    keeps,
    after,
    advice,
  }: { readonly runs: TwoRuns; readonly keeps: readonly Kind[]; readonly after: string; readonly advice: string },
): Promise<void> {
  const wanted = maskVarying(runs[0], runs);
  const isOf = (kinds: readonly Kind[], name: string) => kinds.some(({ kind }) => name.startsWith(`${kind}/`));
  const followsSpec = ([name]: [string, unknown]) => !isOf(stage.options.createdOnce, name);
  const isCompared = (entry: [string, unknown]) => followsSpec(entry) && !isOf(keeps, entry[0]);
  const is = maskVarying(await stage.endState(), runs);
  for (const [name, value] of Object.entries(is).filter(([one]) => !one.includes('/'))) {
    if (countValues(value) === countValues(wanted[name])) continue;
    fail(`${after}, ${name} is ${text(value)} instead of ${text(wanted[name])}`, advice);
  }
  expectSame(
    comparable(Object.fromEntries(Object.entries(is).filter(isCompared))),
    comparable(Object.fromEntries(Object.entries(wanted).filter(isCompared))),
    after,
    advice,
  );
  for (const kind of keeps) {
    const [has, needs] = [is, wanted].map((one) => Object.keys(one).filter((name) => isOf([kind], name)).length);
    if ((has ?? 0) < (needs ?? 0)) fail(`${after}, ${kind.kind}: ${has} are there instead of ${needs}`, advice);
  }
}

export async function runsOf({ open, runs }: SampleRuns): Promise<TwoRuns> {
  const found = await runs();
  if (found !== undefined) return found;
  await using stage = await open();
  await converged(stage);
  fail('the sample converges in some runs only', 'decide by what is in the cluster');
}

/** What a user writes: all but the status and the metadata of the API server. */
function contentOf(object: KubeObject | undefined): unknown {
  const { metadata, status: _, ...content }: Readonly<Record<string, unknown>> = { ...object };
  const { labels = {}, annotations = {} } = isRecord(metadata) ? metadata : {};
  return { ...content, labels, annotations };
}

/** Returns why the API server refuses a change: by its schema or a rule (422, 400), or by a policy (403). */
export async function refusalOf(change: Promise<void>): Promise<string | undefined> {
  try {
    await change;
    return undefined;
  } catch (error) {
    const cause = error instanceof UserError ? error.cause : error;
    if (cause instanceof ApiError && [400, 403, 422].includes(cause.status)) return cause.message;
    throw error;
  }
}

/**
 * What must be the same: which children there are, their owned fields, and the statuses of conditions. Other fields of
 * a status may be a history or a counter.
 */
function comparable(state: EndState): unknown {
  const objects = Object.entries(state).filter(([name]) => name.includes('/'));
  const entries = objects.map(([name, value]) => {
    const { status: _, ...owned } = recordIn(value, 'owned');
    const { conditions } = recordIn(recordIn(value, 'owned'), 'status');
    const statuses = (Array.isArray(conditions) ? conditions : []).map((one) => [
      textIn(one, 'type'),
      textIn(one, 'status'),
    ]);
    return [name, { ...(isRecord(value) ? value : {}), owned, conditions: Object.fromEntries(statuses) }];
  });
  return Object.fromEntries(entries);
}

/** Of the outside system the number of values is compared, because an id that is assigned there is another one. */
function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, one) => sum + countValues(one), 0);
}

function recordIn(value: unknown, field: string): Readonly<Record<string, unknown>> {
  const found = isRecord(value) ? value[field] : undefined;
  return isRecord(found) ? found : {};
}

function textIn(value: unknown, field: string): string {
  return isRecord(value) ? String(value[field]) : '';
}

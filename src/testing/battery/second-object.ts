// The check of a second object with the same spec. If the outside system refuses it, because the first one has the
// name, it must leave the records of the first one as they are: in its reconciles, and when it is deleted.
import { isRecord } from '../../core/json.ts';
import { removed } from './removal.ts';
import { converged, expectSame, fail } from './report.ts';
import { refusalOf } from './spec-change.ts';
import type { SampleCheck, Stage } from './stage.ts';

/** Responses of a system that has such a record, or where the precondition of the call does not hold. */
const refusals: readonly number[] = [409, 412];

const noState = 'outside gives no state()';
const oneAlone = 'the API server refuses a second object with the same spec';

/** The check of two objects that both stay. */
export const takenRecordCheck: SampleCheck = {
  name: 'two objects with the same spec do not take a record from each other',
  needs: 'calls',
  run: async (open, _, skip) => {
    await using stage = await open();
    if ((await stage.outsideState()) === undefined) return skip(noState);
    await converged(stage);
    if ((await refusalOf(stage.applySecond())) !== undefined) return skip(oneAlone);
    const states: unknown[] = [];
    for (let time = 0; time < turns; time += 1) {
      await stage.poll();
      states.push(await stage.outsideState());
      stage.turn();
    }
    const [last, ...before] = states.toReversed().slice(0, 3);
    for (const state of before)
      expectSame(
        { 'the outside system': state },
        { 'the outside system': last },
        'after two objects with the same spec were reconciled in turn',
        'mark a record with the uid of its object, and leave one that another object has marked: it is an error',
      );
  },
};

/** Reconciles of two objects in turn. The last three must find the same. */
const turns = 8;

/** The check of a second object that the outside system refuses. */
export const secondObjectCheck: SampleCheck = {
  name: 'an object that the outside system refuses leaves the records of another one',
  needs: 'calls',
  run: async (open, _, skip) => {
    await using stage = await open();
    if ((await stage.outsideState()) === undefined) return skip(noState);
    await converged(stage);
    const records = itemsOf(await stage.outsideState());
    let isRefused = false;
    stage.disturb({
      fetch: async ({ changes }, send) => {
        const response = await send();
        isRefused ||= changes && refusals.includes(response.status);
        return response;
      },
    });
    // A rule of the kind may permit one object alone.
    if ((await refusalOf(stage.applySecond())) !== undefined) return skip(oneAlone);
    for (let time = 0; time < 3; time += 1) isRefused = (await endsRefused(stage)) || isRefused;
    if (!isRefused) return skip('the outside system accepts a second object with the same spec');
    const second = `${stage.kind.kind} ${stage.key.name}, which the outside system refuses`;
    expectKept(records, itemsOf(await stage.outsideState()), `${second}, was reconciled`);
    await removed(stage);
    expectKept(records, itemsOf(await stage.outsideState()), `${second}, was deleted`);
  },
};

/** Reconciles. Returns whether the object fails, or is not Ready. */
async function endsRefused(stage: Stage): Promise<boolean> {
  const { type } = await stage.poll();
  const { status } = (await stage.subject()) ?? {};
  const conditions = isRecord(status) && Array.isArray(status.conditions) ? status.conditions : [];
  const isNotReady = conditions.some((one) => isRecord(one) && one.type === 'Ready' && one.status === 'False');
  return type === 'failed' || type === 'terminal' || isNotReady;
}

/** The records in a state, each as a text with its path. Of a number only the path: it may count the records. */
function itemsOf(state: unknown, path = ''): readonly string[] {
  if (Array.isArray(state)) return state.map((one) => `${path}${JSON.stringify(one)}`);
  if (isRecord(state)) return Object.entries(state).flatMap(([name, one]) => itemsOf(one, `${path}${name} `));
  return [typeof state === 'number' ? path : `${path}${JSON.stringify(state)}`];
}

function expectKept(records: readonly string[], now: readonly string[], when: string): void {
  const lost = records.find((one) => !now.includes(one));
  if (lost === undefined) return;
  fail(
    `after ${when}, the outside system has no ${lost} of the first object any more`,
    'change and delete only what the object has made: the id in its status, or a record that is marked with its uid',
  );
}

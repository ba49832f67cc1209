// The battery: the faults that reconcilers get wrong, as named checks of one controller and its samples. It knows no
// test runner: a check is a name and a function that rejects with a BatteryError, which says what happened and what to
// change.
import type { ControllerDefinition } from '../../api/definition.ts';
import { checkPermissions, permissionsName } from './aws-check.ts';
import { changeChecks, createdOnceCheck, deletesSelfCheck } from './change-checks.ts';
import { type BatteryCheck, BatteryError, type BatteryOptions } from './contract.ts';
import { faultChecks } from './fault-checks.ts';
import { checkDropped, droppedName, foreignWritersCheck } from './foreign-checks.ts';
import { ignoredStatus } from './ignored-status.ts';
import { converged } from './report.ts';
import { checkSampleKind } from './sample.ts';
import { secondObjectCheck, takenRecordCheck } from './second-object.ts';
import { checkSpecChange, renamed, type SampleRuns, specChangeName } from './spec-change.ts';
import { openStage, type SampleCheck } from './stage.ts';
import type { EndState, TwoRuns } from './varying.ts';

/**
 * Makes the checks of a controller. Each starts its own in-memory API server.
 * @throws TypeError for a sample of another kind, and for an ignored field that the status does not have
 * @example for (const { name, run } of battery(waterTank, { samples: [north] })) it(name, run);
 */
export function battery(controller: ControllerDefinition, options: BatteryOptions): readonly BatteryCheck[] {
  const { samples } = options;
  if (samples.length === 0) throw new TypeError('samples: the battery needs at least one object of the kind');
  for (const [index, sample] of samples.entries()) checkSampleKind(controller, sample, index);
  ignoredStatus(controller.declaration.resource, options.ignoreStatus ?? []);
  const suffix = (index: number) => (samples.length === 1 ? '' : ` (sample ${index + 1})`);
  const runsFor = (sample: object, index: number): SampleRuns => {
    const openUnmasked = async () => await openStage(controller, sample, options);
    const oneRun = async (laterSeconds: number): Promise<EndState | undefined> => {
      await using stage = await openUnmasked();
      stage.advance(laterSeconds);
      return (await stage.settle()) === undefined ? undefined : await stage.endState();
    };
    const runs = once(async (): Promise<TwoRuns | undefined> => {
      // A second apart, as a crash and its retry are: a text that is made of the time then varies.
      const [first, second] = [await oneRun(0), await oneRun(1)];
      return first === undefined || second === undefined ? undefined : [first, second];
    });
    const open = async () => await openStage(controller, sample, options, await runs());
    const calm = once(async (): Promise<EndState> => {
      await using stage = await open();
      await converged(stage);
      return await stage.endState();
    });
    return { sample, label: `sample ${index + 1}`, open, openUnmasked, runs, calm };
  };
  const all = samples.map(runsFor);
  const { outside, keeps = [], createdOnce = [], foreignWriters = {} } = options;
  const { seed = Math.floor(Math.random() * 2 ** 31), rounds = 5 } = foreignWriters;
  const checks = [
    ...changeChecks,
    ...(createdOnce.length === 0 ? [] : [createdOnceCheck]),
    ...(controller.declaration.deletesSelf === true ? [deletesSelfCheck] : []),
    ...faultChecks,
    foreignWritersCheck({ seed, rounds }),
    secondObjectCheck,
    takenRecordCheck,
  ];
  /** What all samples have together: children, and calls by `fetch`. */
  const found = once(async () => {
    let [children, calls] = [0, 0];
    for (const { open } of all) {
      await using stage = await open();
      const fetch = async (_: unknown, send: () => Promise<Response>) => {
        calls += 1;
        return await send();
      };
      stage.disturb({ fetch });
      await stage.settle();
      children += (await stage.children()).length;
    }
    return { children, calls };
  });
  const { owns } = controller.declaration;
  /** Returns why a check would prove nothing. */
  async function unproved(needs: SampleCheck['needs']): Promise<string | undefined> {
    if (needs === 'children' && owns.length === 0) return 'the controller owns no kind';
    if (needs === 'children' && (await found()).children === 0) {
      const kinds = owns.map(({ kind }) => kind).join(', ');
      return `no sample has a child of ${kinds}, which the controller owns; give a sample with one`;
    }
    if (needs !== 'calls' || (await found()).calls > 0) return undefined;
    return outside === undefined
      ? 'no sample calls an outside system by fetch'
      : 'no sample calls the outside system by fetch; give a sample that does';
  }
  const perSample = checks.flatMap(({ name, needs, run }) =>
    all.map(
      ({ open, calm }, index): BatteryCheck => ({
        name: `${name}${suffix(index)}`,
        run: async (...[context]) => {
          const notes: string[] = [];
          const unmet = await unproved(needs);
          if (unmet === undefined) await run(open, calm, (why) => void notes.push(why));
          const note = unmet ?? notes[0];
          if (note !== undefined) context?.skip?.(`not checked: ${note}`);
        },
      }),
    ),
  );
  const actsUnseen = outside !== undefined || controller.declaration.exec !== undefined;
  const pairs = all.flatMap((from, index) =>
    samples.slice(index + 1).map((sample, offset) => {
      const to = runsFor(renamed(sample, from.sample), index + 1 + offset);
      return { from, to, name: `(${from.label} to ${to.label} and back)` };
    }),
  );
  const droppedCheck = (from: SampleRuns, to: SampleRuns, name: string): BatteryCheck => ({
    name: `${droppedName} ${name}`,
    run: async (...[context]) => {
      const note = await checkDropped(from, to, { seed, rounds, keeps });
      if (note !== undefined) context?.skip?.(`not checked: ${note}`);
    },
  });
  const changes = pairs.flatMap(({ from, to, name }): BatteryCheck[] => [
    {
      name: `${specChangeName} ${name}`,
      // A rest parameter, because some test runners give a callback to a function with a parameter.
      run: async (...[context]) => {
        const note = await checkSpecChange(from, to, { actsUnseen, keeps });
        if (note !== undefined) context?.skip?.(`not checked: ${note}`);
      },
    },
    ...(owns.length === 0 ? [] : [droppedCheck(from, to, name)]),
  ]);
  const alone: BatteryCheck = {
    name: specChangeName,
    run: async (...[context]) => {
      for (const { open } of all) {
        await using stage = await open();
        await converged(stage);
      }
      context?.skip?.('not checked: give a second sample, whose spec is another one');
    },
  };
  const { permissions } = controller.declaration;
  const permitted: BatteryCheck = {
    name: permissionsName,
    run: async (...[context]) => {
      const note = await checkPermissions(
        permissions ?? [],
        all.map(({ open }) => open),
      );
      if (note !== undefined) context?.skip?.(`not checked: ${note}`);
    },
  };
  const callsOutside = permissions !== undefined || outside !== undefined;
  const every = [...perSample, ...(callsOutside ? [permitted] : []), ...(changes.length === 0 ? [alone] : changes)];
  return reportOnce(every);
}

/** A reconcile that fails would be reported by each check that needs it: the first one does, the others are skipped. */
function reportOnce(checks: readonly BatteryCheck[]): readonly BatteryCheck[] {
  const reported = new Map<string, string>();
  return checks.map(({ name, run }) => ({
    name,
    run: async (...[context]) => {
      try {
        await run(context);
      } catch (error) {
        if (!(error instanceof BatteryError)) throw error;
        const first = reported.get(error.message) ?? name;
        reported.set(error.message, first);
        if (first === name || context?.skip === undefined) throw error;
        context.skip(`not checked: it fails as this check does: ${first}`);
      }
    },
  }));
}

/** Returns a function that calls `make` at its first call, and resolves with that result at each. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

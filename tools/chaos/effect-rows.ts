// Kills right after an effect, for every effect: each is recorded in a run without kills, or counted until the kill.
// Watchers are killed in the chaos system. Functions are killed in a system with every controller, because each has its
// own effects.
import type { ProxiedRequest } from './chaos-proxy.ts';
import { crashAfterEachEffect } from './effects/crash-each-effect.ts';
import { subjects } from './effects/subjects.ts';
import { startWholeSystem } from './effects/whole-system.ts';
import { killDuringChanges } from './kill-during-changes.ts';
import { type ChaosFixture, editUntil, type Row } from './row.ts';
import { sentMessagesOf } from './sent-messages.ts';

const startSeconds = 240;
/** Each entry kills one watcher process. Later effects of a kind equal its second one. */
const watcherKills = [
  { effect: 'a read of the checkpoint', number: 1 },
  { effect: 'a send', number: 1 },
  { effect: 'a write of the checkpoint', number: 1 },
  { effect: 'a send', number: 2 },
  { effect: 'a write of the checkpoint', number: 2 },
  { effect: 'a send', number: 3 },
] as const;

/** The rows of effects. */
export const effectRows: readonly Row[] = [
  {
    fault: 'watcher killed after each effect',
    how: 'kill -9 after its 1st read of the checkpoint; its 1st, 2nd, 3rd send; its 1st, 2nd write of the checkpoint; a new process each time',
    slow: true,
    run: killWatchers,
  },
  {
    fault: 'function killed after each effect',
    how: ({ kills }) =>
      `every controller and the timers: create, change, delete, kill -9 after the 1st effect, the 2nd and so on, for every effect of a run without kills; during users’ changes, up to ${kills} times, after random effects`,
    slow: true,
    long: true,
    measures: true,
    run: killFunctions,
  },
];

async function killWatchers(fixture: ChaosFixture): Promise<number> {
  const { system, editor, changes, addNote } = fixture;
  let kills = 0;
  let occurrences = 0;
  const killAfterEffect = (request: ProxiedRequest) => {
    const next = watcherKills[kills];
    if (next === undefined || watcherEffect(request) !== next.effect) return undefined;
    occurrences += 1;
    if (occurrences !== next.number) return undefined;
    const onExecuted = () => {
      for (const pid of system.watchers.pids()) process.kill(pid, 'SIGKILL');
      kills += 1;
      occurrences = 0;
    };
    return { type: 'drop-response', onExecuted } as const;
  };
  system.api.rule(killAfterEffect);
  system.sqs.rule(killAfterEffect);
  // The running watcher has read its checkpoint already, so it is restarted first.
  for (const pid of system.watchers.pids()) process.kill(pid, 'SIGKILL');
  await editor.edit(changes);
  await editUntil(fixture, () => kills === watcherKills.length);
  addNote(`${kills} of ${watcherKills.length} kills after an effect`);
  if (kills < watcherKills.length) throw new Error(`no watcher made ${JSON.stringify(watcherKills[kills])}`);
  return kills;
}

/** The effect of a request that only watchers make, as the proxies receive it; undefined for any other request. */
function watcherEffect(request: ProxiedRequest): (typeof watcherKills)[number]['effect'] | undefined {
  if (request.url.includes('/configmaps/outrigger-watch-checkpoint')) {
    return request.method === 'GET' ? 'a read of the checkpoint' : 'a write of the checkpoint';
  }
  return sentMessagesOf(request).some(({ message }) => message.cause.type === 'change') ? 'a send' : undefined;
}

async function killFunctions(fixture: ChaosFixture): Promise<number> {
  const { system, addNote } = fixture;
  const real = system.plane !== undefined;
  const wholeSystem = await startWholeSystem({ real }, AbortSignal.timeout(startSeconds * 1000));
  wholeSystem.onEffect(system.calls.record);
  try {
    const groups = subjects.map(async (group) => {
      const controllers = group.map(({ controller }) => controller);
      const results = [];
      for (const subject of group) {
        const otherControllers = controllers.filter((name) => name !== subject.controller);
        results.push({ subject, ...(await crashAfterEachEffect(wholeSystem, subject, { otherControllers })) });
      }
      return results;
    });
    const [all, killsDuringChanges] = await Promise.all([Promise.all(groups), killDuringChanges(fixture)]);
    const results = all.flat();
    for (const { subject, effects, kills, changes } of results) {
      addNote(
        `${subject.killed ?? subject.controller}: ${effects.flat().length} effects, ${kills} kills, ${changes} further changes`,
      );
    }
    const differences = results.flatMap((one) => one.differences);
    if (differences.length > 0) throw new Error(differences.join('; '));
    return results.reduce((sum, { kills }) => sum + kills, killsDuringChanges);
  } finally {
    await wholeSystem.close();
  }
}

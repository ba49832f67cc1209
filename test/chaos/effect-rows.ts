// Death right after an effect, at every effect there is: each is recorded in a run without deaths, or counted in the life that ends by it.
// Watchers die in the chaos system; functions in a system with every controller, because each has effects of its own.
import type { Asked } from './chaos-proxy.ts';
import { liveAll } from './effects/lives.ts';
import { subjects } from '../../tools/chaos/effects/subjects.ts';
import { startWholeSystem } from '../../tools/chaos/effects/whole-system.ts';
import { killBesideChanges } from './kill-beside-changes.ts';
import { editUntil, type Row, type Stage } from './row.ts';
import { sendsOf } from '../../tools/chaos/sent-messages.ts';

const startSeconds = 240;
/** Each ends a watcher's life: later effects of a kind are like its second. */
const watcherDeaths = [
  { effect: 'a read of the cursor', number: 1 },
  { effect: 'a send', number: 1 },
  { effect: 'a write of the cursor', number: 1 },
  { effect: 'a send', number: 2 },
  { effect: 'a write of the cursor', number: 2 },
  { effect: 'a send', number: 3 },
] as const;

/** The rows of effects. */
export const effectRows: readonly Row[] = [
  {
    fault: 'watcher killed after each effect',
    how: 'kill -9 after its 1st read of the cursor; its 1st, 2nd, 3rd send; its 1st, 2nd write of the cursor: a life each',
    slow: true,
    run: killWatchers,
  },
  {
    fault: 'function killed after each effect',
    how: ({ kills }) =>
      `every controller and the timers: create, change, delete, kill -9 after the 1st effect, the 2nd, and so on, as many as there are without deaths; beside the changes of users, up to ${kills} times, after effects that the dice choose`,
    slow: true,
    long: true,
    measures: true,
    run: killFunctions,
  },
];

async function killWatchers(stage: Stage): Promise<number> {
  const { system, editor, changes, note } = stage;
  let deaths = 0;
  let seen = 0;
  const strike = (asked: Asked) => {
    const next = watcherDeaths[deaths];
    if (next === undefined || watcherEffect(asked) !== next.effect) return undefined;
    seen += 1;
    if (seen !== next.number) return undefined;
    const acted = () => {
      for (const pid of system.crew.pids()) process.kill(pid, 'SIGKILL');
      deaths += 1;
      seen = 0;
    };
    return { type: 'swallow', acted } as const;
  };
  system.api.rule(strike);
  system.sqs.rule(strike);
  // The one that is there has read its cursor long ago.
  for (const pid of system.crew.pids()) process.kill(pid, 'SIGKILL');
  await editor.edit(changes);
  await editUntil(stage, () => deaths === watcherDeaths.length);
  note(`${deaths} of ${watcherDeaths.length} deaths after an effect`);
  if (deaths < watcherDeaths.length) throw new Error(`no watcher had ${JSON.stringify(watcherDeaths[deaths])}`);
  return deaths;
}

/** What a watcher alone does, as the proxies see it. */
function watcherEffect(asked: Asked): (typeof watcherDeaths)[number]['effect'] | undefined {
  if (asked.url.includes('/configmaps/outrigger-cursor')) {
    return asked.method === 'GET' ? 'a read of the cursor' : 'a write of the cursor';
  }
  return sendsOf(asked).some(({ message }) => message.lane === 'watch') ? 'a send' : undefined;
}

async function killFunctions(stage: Stage): Promise<number> {
  const { system, note } = stage;
  const real = system.plane !== undefined;
  const whole = await startWholeSystem({ real }, AbortSignal.timeout(startSeconds * 1000));
  whole.onEffect(system.calls.note);
  try {
    const lines = subjects.map(async (line) => {
      const controllers = line.map(({ controller }) => controller);
      const lives = [];
      for (const subject of line) {
        const beside = controllers.filter((name) => name !== subject.controller);
        lives.push({ subject, ...(await liveAll(whole, subject, { beside })) });
      }
      return lives;
    });
    const [all, beside] = await Promise.all([Promise.all(lines), killBesideChanges(stage)]);
    const lives = all.flat();
    for (const { subject, effects, deaths, changes: asked } of lives) {
      note(
        `${subject.dies ?? subject.controller}: ${effects.flat().length} effects, ${deaths} deaths, ${asked} further changes`,
      );
    }
    const wrong = lives.flatMap((one) => one.wrong);
    if (wrong.length > 0) throw new Error(wrong.join('; '));
    return lives.reduce((sum, { deaths }) => sum + deaths, beside);
  } finally {
    await whole.close();
  }
}

// What a person should look at in a system, the parts first: for the page's verdict and the picture of `outrigger dev`.
// Pure.
import { few } from 'outrigger/internal/core/few';
import type { Flow, Health, ObjectRow, ObjectState, ResyncRun, Tone } from './wire.ts';

/** Something that a person should look at, and where the page shows it. */
export type Problem = {
  readonly text: string;
  readonly view: 'flow' | 'queues' | 'objects';
  /** Of objects: the state that they have. */
  readonly state?: ObjectState;
};

/** Returns the number of dead letters of each controller and of the shared queues; undefined: not known. */
export function deadLettersOf({ controllers, sharedDeadLetters }: Flow): readonly (number | undefined)[] {
  return [sharedDeadLetters, ...controllers.map(({ deadLetters }) => deadLetters)];
}

/** Finds the problems of a system. */
export function problemsOf(flow: Flow, rows: readonly Pick<ObjectRow, 'state'>[]): readonly Problem[] {
  const { clusters, controllers, shared = [], saved, notes = [] } = flow;
  const partsOf = (kind: string, parts: readonly { readonly name: string; readonly health: Health }[]) => {
    const bad = parts.filter(({ health: { tone } }) => tone === 'bad' || tone === 'unknown');
    // Parts that say the same have one cause, such as an API server that no function can reach.
    const causes = Map.groupBy(
      bad,
      ({ health: { state, text } }) => `${state}${text === undefined ? '' : `: ${text}`}`,
    );
    return [...causes].map(
      ([cause, all]): Problem => ({
        text: `${kind}${all.length === 1 ? '' : 's'} ${few(all.map(({ name }) => name))}: ${cause}`,
        view: 'flow',
      }),
    );
  };
  // What cannot be read has one line, and not one more for each function of which nothing is known therefore.
  const judged = [...controllers, ...shared].filter(({ health }) => notes.length === 0 || health.state !== 'not known');
  const letters = deadLettersOf(flow);
  const dead = letters.reduce((sum: number, one = 0) => sum + one, 0);
  const objects = (['Stalled', 'Failed'] as const).flatMap((state): readonly Problem[] => {
    const number = rows.filter((row) => row.state === state).length;
    return number === 0
      ? []
      : [{ text: `${numbered(number, 'object is', 'objects are')} ${state}`, view: 'objects', state }];
  });
  return [
    ...(saved === undefined ? [] : partsOf('saved', [{ name: 'code', health: saved }])),
    ...partsOf('cluster', clusters),
    ...partsOf('function', judged),
    ...notes.map((text): Problem => ({ text, view: 'flow' })),
    ...(dead > 0 ? [{ text: numbered(dead, 'dead letter', 'dead letters'), view: 'queues' as const }] : []),
    ...objects,
  ];
}

/** The verdict: how many problems there are, else what is on its way back or paused, else that all is well. */
export function verdictOf(
  flow: Flow,
  rows: readonly Pick<ObjectRow, 'state'>[],
): { readonly text: string; readonly tone: Tone } {
  const number = problemsOf(flow, rows).length;
  if (number > 0) return { text: numbered(number, 'problem', 'problems'), tone: 'bad' };
  const controllers = flow.controllers.map(({ health }) => health);
  const clusters = flow.clusters.map(({ health }) => health);
  const aside = asideText(clusters, controllers);
  const ready = rows.filter(({ state }) => state === 'Ready').length;
  const objects = `${ready.toLocaleString('en')} of ${rows.length.toLocaleString('en')} objects are Ready`;
  return aside === undefined
    ? { text: `All is well: ${objects}`, tone: 'good' }
    : { text: `${aside}; ${objects}`, tone: 'busy' };
}

/** Says how many parts are on their way, such as reconnecting, or were paused by a person; undefined if none is. */
export function asideText(clusters: readonly Health[], controllers: readonly Health[]): string | undefined {
  const textsOf = (all: readonly Health[], what: string) => {
    const states = all.flatMap(({ tone, state }) => (tone === 'busy' || tone === 'neutral' ? [state] : []));
    return [...new Set(states)].map((state) => {
      const number = states.filter((one) => one === state).length;
      return `${numbered(number, `${what} is`, `${what}s are`)} ${state}`;
    });
  };
  const texts = [...textsOf(clusters, 'cluster'), ...textsOf(controllers, 'controller')];
  return texts.length === 0 ? undefined : texts.join(', ');
}

/** Says what waits and what was missed: `behind: 4 keys, the oldest for 12 s; missed: 0 by the resync 3 s ago`. */
export function lagText({ at, controllers, resync }: Flow, age: (milliseconds: number) => string): string {
  const waiting = controllers.map(({ queued }) => queued);
  const keys = waiting.reduce((sum: number, one) => sum + (one ?? 0), 0);
  const sentAt = Math.min(...controllers.map(({ oldestAt = at }) => oldestAt));
  // SQS alone does not say how long a message waits.
  const oldest = keys === 0 || sentAt >= at ? '' : `, the oldest for ${age(at - sentAt)}`;
  const behind = waiting.includes(undefined) ? 'not known' : `${numbered(keys, 'key', 'keys')}${oldest}`;
  const missed =
    resync === undefined
      ? 'not known: no resync was read yet'
      : missedText(resync, `${age(Math.max(0, at - Date.parse(resync.run)))} ago`);
  return `behind: ${behind}; missed: ${missed}`;
}

/** Says what a run of the resync found: `2 by the resync 3 s ago, not known for 1 list`. */
export function missedText({ missed, unknown = 0 }: ResyncRun, when: string): string {
  const lists = unknown === 0 ? '' : `, not known for ${numbered(unknown, 'list', 'lists')}`;
  return `${missed} by the resync ${when}${lists}`;
}

function numbered(number: number, one: string, more: string): string {
  return number === 1 ? `1 ${one}` : `${number.toLocaleString('en')} ${more}`;
}

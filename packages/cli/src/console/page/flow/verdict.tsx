// The verdict on the system, before any figure: its problems, or that all is well.
import { computed } from '@preact/signals';
import type { Flow, Health, ObjectRow } from '../../wire.ts';
import { age, count } from '../format.ts';
import { allRows, flow, now, objectHref, recent, sumKnown } from '../store.ts';

/** The problems that are listed. */
const maxShown = 8;

/** Something that a person should look at, and where. */
type Problem = { readonly text: string; readonly href: string };

/** Finds the problems of a system, of the parts first. */
export function problemsOf(
  { clusters, controllers, waitingTimers, shared = [] }: Flow,
  rows: readonly ObjectRow[],
): readonly Problem[] {
  const isProblem = ({ health: { tone } }: { readonly health: Health }) => tone === 'bad' || tone === 'unknown';
  const partText = (kind: string, name: string, { state, text }: Health) =>
    `${kind} ${name}: ${state}${text === undefined ? '' : `: ${text}`}`;
  const letters = controllers.map(({ deadLetters }) => deadLetters);
  const dead = letters.reduce((sum: number, one) => sum + (one ?? 0), 0);
  const isUnread = sumKnown([...letters, waitingTimers, ...controllers.map(({ queued }) => queued)]) === null;
  const objects = (['Stalled', 'Failed'] as const).flatMap((state) => {
    const number = rows.filter((row) => row.state === state).length;
    const text = number === 1 ? `1 object is ${state}` : `${count(number)} objects are ${state}`;
    return number === 0 ? [] : [{ text, href: objectHref(undefined, { state }) }];
  });
  return [
    ...clusters
      .filter(isProblem)
      .map(({ name, health }) => ({ text: partText('cluster', name, health), href: '#/flow' })),
    ...[...controllers, ...shared]
      .filter(isProblem)
      .map(({ name, health }) => ({ text: partText('function', name, health), href: '#/flow' })),
    ...(isUnread ? [{ text: 'queues: not known: they cannot be read', href: '#/queues' }] : []),
    ...(dead > 0 ? [{ text: dead === 1 ? '1 dead letter' : `${count(dead)} dead letters`, href: '#/queues' }] : []),
    ...objects,
  ];
}

/** The problems now; undefined until the first figures are there. */
export const problems = computed(() => flow.value && problemsOf(flow.value, allRows.value));

export function Verdict() {
  const all = problems.value;
  if (all === undefined) return null;
  const change = recent.value.findLast(({ type }) => type === 'change');
  const ready = allRows.value.filter(({ state }) => state === 'Ready').length;
  const last = change === undefined ? '' : `, the last change was ${age(now.value - change.at)} ago`;
  const well = `All is well: ${count(ready)} of ${count(allRows.value.length)} objects are ready${last}`;
  return (
    <section class={`card verdict ${all.length > 0 ? 'bad' : 'good'}`} aria-label="Verdict">
      <h2>{all.length === 0 ? well : all.length === 1 ? '1 problem' : `${count(all.length)} problems`}</h2>
      {all.length > 0 && (
        <ul>
          {all.slice(0, maxShown).map(({ text, href }) => (
            <li key={text}>
              <a href={href}>{text}</a>
            </li>
          ))}
          {all.length > maxShown && <li>and {count(all.length - maxShown)} more, which are marked below</li>}
        </ul>
      )}
    </section>
  );
}

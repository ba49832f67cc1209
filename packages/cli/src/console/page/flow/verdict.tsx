// The verdict on the system, before any figure: its problems, or that all is well.
import { computed } from '@preact/signals';
import { lagText, type Problem, problemsOf } from '../../problems.ts';
import { age, count } from '../format.ts';
import { allRows, flow, now, objectHref, recent } from '../store.ts';

/** The problems that are listed. */
const maxShown = 8;

/** The problems now; undefined until the first figures are there. */
export const problems = computed(() => flow.value && problemsOf(flow.value, allRows.value));

const hrefOf = ({ view, state }: Problem) => (state === undefined ? `#/${view}` : objectHref(undefined, { state }));

export function Verdict() {
  const [all, current] = [problems.value, flow.value];
  if (all === undefined || current === undefined) return null;
  const change = recent.value.findLast(({ type }) => type === 'change');
  const ready = allRows.value.filter(({ state }) => state === 'Ready').length;
  const last = change === undefined ? '' : `, the last change was ${age(now.value - change.at)} ago`;
  const well = `All is well: ${count(ready)} of ${count(allRows.value.length)} objects are ready${last}`;
  return (
    <section class={`card verdict ${all.length > 0 ? 'bad' : 'good'}`} aria-label="Verdict">
      <h2>{all.length === 0 ? well : all.length === 1 ? '1 problem' : `${count(all.length)} problems`}</h2>
      <p class="lag">{lagText(current, age)}</p>
      {all.length > 0 && (
        <ul>
          {all.slice(0, maxShown).map((one) => (
            <li key={one.text}>
              <a href={hrefOf(one)}>{one.text}</a>
            </li>
          ))}
          {all.length > maxShown && <li>and {count(all.length - maxShown)} more, which are marked below</li>}
        </ul>
      )}
    </section>
  );
}

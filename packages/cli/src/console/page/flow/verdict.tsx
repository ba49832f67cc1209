// The verdict on the system, before any figure: its problems, or that all is well.
import { computed } from '@preact/signals';
import { lagText, type Problem, problemsOf, verdictOf } from '../../problems.ts';
import type { Flow } from '../../wire.ts';
import { age, count } from '../format.ts';
import { allRows, flow, now, objectHref, recent } from '../store.ts';

/** The problems that are listed. */
const maxShown = 8;

/** The problems now; undefined until the first figures are there. */
export const problems = computed(() => flow.value && problemsOf(flow.value, allRows.value));

const hrefOf = ({ view, state }: Problem) => (state === undefined ? `#/${view}` : objectHref(undefined, { state }));

export function Verdict({ of: current }: { readonly of: Flow }) {
  const all = problems.value ?? [];
  const change = recent.value.findLast(({ type }) => type === 'change');
  const last = change === undefined ? '' : `, the last change was ${age(now.value - change.at)} ago`;
  const { text, tone } = verdictOf(current, allRows.value);
  return (
    <section class={`card verdict ${tone}`} aria-label="Verdict">
      <h2>{`${text}${all.length === 0 ? last : ''}`}</h2>
      <p class="lag">
        {lagText(current, age)}
        {current.version !== undefined && `; deployed version: ${current.version}`}
      </p>
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

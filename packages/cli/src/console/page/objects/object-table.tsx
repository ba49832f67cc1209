// The table of objects. Only the rows that are in view are in the document, so that thousands are as fast as ten.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ConditionRow, ObjectRow } from '../../wire.ts';
import { ageOf } from '../format.ts';
import { CutName } from '../parts/cut-name.tsx';
import { StatePill } from '../parts/state-pill.tsx';
import { displayName, now, objectHref, query, setQuery } from '../store.ts';

/** The height of a row in the style sheet, and the rows above and below the view. */
const rowHeight = 44;
const spare = 8;

/** The columns, by the ends of their classes. */
const columns = [
  ['kind', 'Kind'],
  ['name', 'Name'],
  ['state', 'State'],
  ['conditions', 'Conditions'],
  ['text', 'Reason'],
  ['age', 'Age'],
] as const;

export function ObjectTable({
  rows,
  selected,
}: {
  readonly rows: readonly ObjectRow[];
  readonly selected: string | undefined;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 900 });
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const measure = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const resize = new ResizeObserver(measure);
    resize.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      resize.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, []);
  const first = Math.max(0, Math.min(Math.floor(view.top / rowHeight) - spare, rows.length - 1));
  const end = Math.min(rows.length, Math.ceil((view.top + view.height) / rowHeight) + spare);
  return (
    <div
      class="table-scroll"
      ref={scroller}
      tabIndex={0}
      role="region"
      aria-label="Table of objects"
      onKeyDown={moveFocus}
    >
      <table class="table" aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {columns.map(([name, title]) => (
              <th key={name} scope="col" class={`c-${name}`} aria-sort={orderOf(name)}>
                {name === 'conditions' ? (
                  title
                ) : (
                  <button type="button" class="sort" onClick={() => setQuery({ sort: nextSort(name) })}>
                    {title}
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Spacer rows={first} />
          {rows.slice(first, end).map((row, index) => (
            <tr
              key={row.id}
              aria-rowindex={first + index + 2}
              class={row.id === selected ? 'selected' : ''}
              onClick={(event) => open(row.id, event)}
            >
              <td class="c-kind">{row.kind}</td>
              <td class="c-name">
                <a
                  href={objectHref(row.id)}
                  aria-label={displayName(row.id)}
                  aria-current={row.id === selected ? 'true' : undefined}
                >
                  <CutName of={row.name} before={displayName(row.id).slice(0, -row.name.length)} />
                </a>
              </td>
              <td class="c-state">
                <StatePill of={row} />
              </td>
              <td class="c-conditions">
                <Conditions conditions={row.conditions} />
              </td>
              <td class="c-text" title={row.text}>
                {row.state === 'Ready' ? '' : row.text}
              </td>
              <td class="c-age">{ageOf(row.createdAt, now.value)}</td>
            </tr>
          ))}
          <Spacer rows={rows.length - end} />
        </tbody>
      </table>
    </div>
  );
}

/** Ascending, descending, and then problems first again. */
function nextSort(name: string): string {
  const { sort } = query.value;
  return sort === name ? `-${name}` : sort === `-${name}` ? '' : name;
}

function orderOf(name: string): 'ascending' | 'descending' | undefined {
  const { sort } = query.value;
  return sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : undefined;
}

/** Each condition with a mark; Ready is the state. */
function Conditions({ conditions }: { readonly conditions: readonly ConditionRow[] }) {
  return (
    <span class="marks">
      {conditions
        .filter(({ type }) => type !== 'Ready')
        .map(({ type, status, tone }) => (
          <span key={type} class="mark-of" title={`${type} is ${status}`}>
            <span class={`lamp ${tone}`} aria-hidden="true" />
            {type}
            <span class="hidden"> {status}</span>
          </span>
        ))}
    </span>
  );
}

function Spacer({ rows }: { readonly rows: number }) {
  return rows <= 0 ? null : <tr class="spacer" style={{ height: `${rows * rowHeight}px` }} />;
}

/** A click with a key opens the link of the name in a tab, and nothing here. */
function open(id: string, { target, ctrlKey, metaKey, shiftKey }: MouseEvent): void {
  const isLink = target instanceof Element && target.closest('a') !== null;
  if (!isLink && !ctrlKey && !metaKey && !shiftKey) location.hash = objectHref(id);
}

/** Arrow keys move between the names. */
function moveFocus(event: KeyboardEvent): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  const { target, currentTarget } = event;
  if (step === 0 || !(target instanceof HTMLAnchorElement) || !(currentTarget instanceof HTMLElement)) return;
  const links = [...currentTarget.querySelectorAll<HTMLAnchorElement>('td.c-name a')];
  const next = links[links.indexOf(target) + step];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

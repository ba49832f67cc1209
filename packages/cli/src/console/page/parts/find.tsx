// Finds clusters, controllers and objects by name, from every view: Ctrl-K or `/`, arrows, Enter, Escape.
import { useComputed, useSignal } from '@preact/signals';
import type { Tone } from '../../wire.ts';
import { count } from '../format.ts';
import { allRows, find, finding, flow, objectHref } from '../store.ts';
import { CutName } from './cut-name.tsx';
import { Icon } from './icon.tsx';
import { useModal } from './modal.ts';
import { StatePill } from './state-pill.tsx';

type Found = {
  readonly what: string;
  readonly name: string;
  readonly href: string;
  readonly of: { readonly state: string; readonly tone: Tone };
};

const maxShown = 10;

/** Everything whose name has each word; names that begin with the text come first, then problems. */
function matchesOf(text: string): readonly Found[] {
  const { clusters = [], controllers = [] } = flow.value ?? {};
  const all: readonly Found[] = [
    ...clusters.map(({ name, health }) => ({
      what: 'Cluster',
      name,
      of: health,
      href: objectHref(undefined, { cluster: name }),
    })),
    ...controllers.map(({ name, kind, health }) => ({
      what: 'Controller',
      name,
      of: health,
      href: objectHref(undefined, { kind }),
    })),
    ...allRows.value.map((row) => ({
      what: clusters.length > 1 ? `${row.kind} in ${row.cluster}` : row.kind,
      name: row.namespace === undefined ? row.name : `${row.namespace}/${row.name}`,
      of: row,
      href: objectHref(row.id, {}),
    })),
  ];
  const words = text.toLowerCase().split(/\s+/);
  const begins = ({ name }: Found) => Number(name.slice(name.indexOf('/') + 1).startsWith(text.toLowerCase()));
  return all
    .filter(({ what, name }) => words.every((word) => `${what} ${name}`.toLowerCase().includes(word)))
    .sort((a, b) => begins(b) - begins(a));
}

export function Find() {
  const dialog = useModal();
  const chosen = useSignal(0);
  const matches = useComputed(() => matchesOf(finding.value ?? ''));
  const shown = matches.value.slice(0, maxShown);
  const rest = matches.value.length - shown.length;
  const go = (one: Found | undefined) => {
    if (one === undefined) return;
    find(undefined);
    location.hash = one.href;
  };
  const press = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (event.key === 'Enter') go(shown[chosen.value]);
    if (step === 0) return;
    event.preventDefault();
    chosen.value = Math.max(0, Math.min(shown.length - 1, chosen.value + step));
  };
  return (
    <dialog ref={dialog} class="find" aria-label="Find" onCancel={() => find(undefined)} {...{ closedby: 'any' }}>
      <label class="search">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label="Find clusters, controllers and objects"
          aria-expanded="true"
          aria-controls="found"
          aria-activedescendant={shown.length === 0 ? undefined : `found-${chosen.value}`}
          placeholder="Find clusters, controllers and objects"
          autoComplete="off"
          value={finding.value}
          onKeyDown={press}
          onInput={({ currentTarget }) => {
            chosen.value = 0;
            find(currentTarget.value);
          }}
        />
      </label>
      <div id="found" role="listbox" aria-label="Found">
        {shown.map((one, index) => (
          <a
            key={one.href}
            id={`found-${index}`}
            href={one.href}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen.value}
          >
            <span class="found-name">
              <CutName of={one.name} />
            </span>
            <span class="found-what">{one.what}</span>
            <StatePill of={one.of} />
          </a>
        ))}
      </div>
      <p class="none" role="status">
        {shown.length === 0 ? 'Nothing has this name.' : rest > 0 ? `${count(rest)} more: type more of the name.` : ''}
      </p>
    </dialog>
  );
}

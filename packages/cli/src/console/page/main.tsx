// The page: its frame, and the view that the URL names.
import { effect } from '@preact/signals';
import { render } from 'preact';
import { deadLettersOf } from '../problems.ts';
import { BreakView } from './break/break-view.tsx';
import { FlowView } from './flow/flow-view.tsx';
import { problems } from './flow/verdict.tsx';
import { count } from './format.ts';
import { HistoryView } from './history/history-view.tsx';
import { ObjectsView } from './objects/objects-view.tsx';
import { Icon } from './parts/icon.tsx';
import { Overlays } from './parts/overlays.tsx';
import { QueuesView } from './queues/queues-view.tsx';
import {
  allRows,
  type Connection,
  connection,
  displayName,
  faults,
  find,
  flow,
  objectHref,
  route,
  start,
  sumKnown,
  system,
} from './store.ts';
import { nextTheme, startTheme, theme } from './theme.ts';

const views = [
  { name: 'flow', title: 'Flow', icon: 'flow' },
  { name: 'objects', title: 'Objects', icon: 'objects' },
  { name: 'queues', title: 'Queues', icon: 'queues' },
  { name: 'history', title: 'History', icon: 'retry' },
  { name: 'break', title: 'Break it', icon: 'bolt' },
] as const;

const connectionTexts: Readonly<Record<Connection, string>> = {
  connecting: 'Connecting',
  live: 'Live',
  lost: 'Reconnecting',
  refused: 'Not connected',
};

function Page() {
  const { view } = route.value;
  const letters = flow.value && sumKnown(deadLettersOf(flow.value));
  return (
    <div class="page">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <a class="brand" href="#/flow" aria-label="Outrigger">
          <Icon name="brand" />
          <span>Outrigger</span>
        </a>
        <nav aria-label="Views">
          {views
            .filter(({ name }) => name !== 'break' || faults.value.length > 0)
            .filter(({ name }) => name !== 'history' || system.value?.mode === 'stage')
            .map(({ name, title, icon }) => (
              <a key={name} class="tab" href={`#/${name}`} aria-current={view === name ? 'page' : undefined}>
                <Icon name={icon} />
                {title}
                {name === 'objects' && <span class="count">{count(allRows.value.length)}</span>}
                {name === 'queues' && letters === null && <span class="count unknown">? dead</span>}
                {name === 'queues' && (letters ?? 0) > 0 && <span class="count bad">{count(letters)} dead</span>}
              </a>
            ))}
        </nav>
        <div class="top-right">
          {system.value !== undefined && (
            <span class="system" title={system.value.mode === 'dev' ? 'outrigger dev' : 'A deployed stage'}>
              {system.value.mode === 'dev' ? 'outrigger dev' : `stage ${system.value.name}`}
              {system.value.readOnly === true && ', read-only'}
            </span>
          )}
          <span class={`connection ${connection.value}`} role="status">
            <span class="led" aria-hidden="true" />
            {connectionTexts[connection.value]}
          </span>
          <button
            type="button"
            class="icon-button"
            onClick={() => find('')}
            aria-label="Find"
            title="Find: Ctrl-K or /"
          >
            <Icon name="search" />
          </button>
          <button
            type="button"
            class="icon-button"
            onClick={nextTheme}
            aria-label={`Theme: ${theme.value}`}
            title={`Theme: ${theme.value}`}
          >
            <Icon name={theme.value === 'auto' ? 'auto' : theme.value === 'dark' ? 'moon' : 'sun'} />
          </button>
        </div>
      </header>
      {connection.value === 'lost' && (
        <p class="banner" role="alert">
          The console does not respond. Is <code>{system.value?.command ?? 'outrigger dev'}</code> still running? This
          page connects again by itself.
        </p>
      )}
      <main id="main" tabIndex={-1}>
        {connection.value === 'refused' ? <Refused /> : <View name={view} />}
      </main>
      <Overlays />
    </div>
  );
}

function View({ name }: { readonly name: string }) {
  if (name === 'objects') return <ObjectsView />;
  if (name === 'break') return <BreakView />;
  if (name === 'history') return <HistoryView />;
  return name === 'queues' ? <QueuesView /> : <FlowView />;
}

function Refused() {
  return (
    <div class="empty">
      <Icon name="lock" />
      <h1>Open the URL that the terminal shows</h1>
      <p>
        The URL of the console has a token, which changes at each start. Copy it from the output of{' '}
        <code>outrigger dev</code> or <code>outrigger console</code>.
      </p>
    </div>
  );
}

/** `/` and Ctrl-K open the search, Escape closes the open object. Returns whether the browser is to do nothing. */
function pressKey({ key, target, ctrlKey, metaKey }: KeyboardEvent): boolean {
  const isCommand = key === 'k' && (ctrlKey || metaKey);
  const isTyping = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
  if ((isTyping && !isCommand) || document.querySelector('dialog') !== null) return isCommand;
  if (key === 'Escape' && route.value.id !== undefined) location.hash = objectHref();
  if (key !== '/' && !isCommand) return false;
  find('');
  return true;
}

startTheme();
start();
addEventListener('keydown', (event) => {
  if (pressKey(event)) event.preventDefault();
});
effect(() => {
  const { view, id } = route.value;
  const { title = 'Flow' } = views.find(({ name }) => name === view) ?? {};
  const number = problems.value?.length ?? 0;
  const where = system.value?.mode === 'stage' ? `stage ${system.value.name}` : 'dev';
  const count = connection.value === 'lost' ? '(?) ' : number > 0 ? `(${number}) ` : '';
  document.title = `${count}${id === undefined ? title : displayName(id)} · ${where} · Outrigger`;
});
const root = document.getElementById('app');
if (root !== null) render(<Page />, root);

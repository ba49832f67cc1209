// The messages: dead letters with their reason, timers by due time, and what waits or is in flight.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { QueuedMessage, Queues } from '../../wire.ts';
import { named, perform } from '../actions.ts';
import { age, count, shortName } from '../format.ts';
import { CutName } from '../parts/cut-name.tsx';
import { Icon } from '../parts/icon.tsx';
import { displayName, fetchQueues, now, objectHref, rows, sum, system } from '../store.ts';

const refreshMilliseconds = 2_000;
/** The rows of a list on this page. */
const maxShown = 100;

export function QueuesView() {
  const queues = useSignal<Queues | undefined>(undefined);
  useEffect(() => {
    const abort = new AbortController();
    const read = async () => {
      try {
        queues.value = await fetchQueues(abort.signal);
      } catch {
        // The head of the page shows that the console does not respond.
      }
    };
    void read();
    const timer = setInterval(() => void read(), refreshMilliseconds);
    return () => {
      abort.abort();
      clearInterval(timer);
    };
  }, []);
  const { messages = [], more = {}, unread = [], notes = [] } = queues.value ?? {};
  const moreOf = (isOf: (queue: string) => boolean) =>
    Object.entries(more).flatMap(([queue, one]) => (isOf(queue) ? [one] : []));
  const isStage = system.value?.mode === 'stage';
  const of = (...states: readonly QueuedMessage['state'][]) => messages.filter(({ state }) => states.includes(state));
  const timers = of('timer').sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0));
  const isLoaded = queues.value !== undefined;
  /** Whether a queue of this kind could not be read: its messages are not known. */
  const isUnread = (isOf: (queue: string) => boolean) => unread.some(isOf);
  const isWork = (queue: string) => !isDead(queue) && queue !== 'timers';
  return (
    <div class="queues">
      <h1 class="hidden">Queues</h1>
      {unread.length > 0 && (
        <p class="card notice-line">
          {unread.length === 1 ? unread[0] : `${unread.length} queues`} cannot be read now.
        </p>
      )}
      {notes.map((note) => (
        <p key={note} class="card notice-line">
          {note}
        </p>
      ))}
      <DeadLetters letters={of('dead')} more={more} isLoaded={isLoaded} isUnread={isUnread(isDead)} />
      <div class="two">
        <List
          title="Timers"
          text="Requeues and retries that are due later"
          messages={distinct(timers)}
          number={timers.length + (more.timers ?? 0)}
          isLoaded={isLoaded}
          isUnread={isUnread((queue) => queue === 'timers')}
          none="Nothing is due."
        />
        {!isStage && (
          <List
            title="Work"
            text="Keys that wait or are in flight"
            messages={of('in flight', 'waiting')}
            number={of('in flight', 'waiting').length + sum(moreOf(isWork))}
            isLoaded={isLoaded}
            isUnread={isUnread(isWork)}
            none="The queues are empty: every key was reconciled."
          />
        )}
      </div>
    </div>
  );
}

function DeadLetters({
  letters,
  more,
  isLoaded,
  isUnread,
}: {
  readonly letters: readonly QueuedMessage[];
  readonly more: Readonly<Record<string, number>>;
  readonly isLoaded: boolean;
  readonly isUnread: boolean;
}) {
  const byQueue = Map.groupBy(letters, ({ queue }) => queue);
  // Of a queue with messages none may be read, as just after a redrive.
  const queues = new Set([...byQueue.keys(), ...Object.keys(more).filter(isDead)]);
  const all = letters.length + sum([...queues].map((queue) => more[queue] ?? 0));
  return (
    <section class="card" aria-labelledby="dead-letters">
      <header class="card-head">
        <h2 id="dead-letters">
          Dead letters{' '}
          <span class={`count ${all > 0 ? 'bad' : isUnread ? 'unknown' : ''}`}>
            {shownCount(all, isLoaded, isUnread)}
          </span>
        </h2>
        <p>Messages that are not retried any more</p>
      </header>
      {isUnread && <p class="none">{notKnown}</p>}
      {isLoaded && !isUnread && all === 0 && (
        <div class="calm">
          <Icon name="check" />
          <p>There are no dead letters.</p>
        </div>
      )}
      {[...queues].map((queue) => {
        const own = byQueue.get(queue) ?? [];
        return <LetterQueue key={queue} queue={queue} letters={own} number={own.length + (more[queue] ?? 0)} />;
      })}
    </section>
  );
}

const isDead = (queue: string) => /-dlq(?:\.fifo)?$/.test(queue);
const notKnown = 'Not known: a queue cannot be read.';

/** `3`, `3 or more` where a queue cannot be read, and `not known` where none can. */
function shownCount(number: number, isLoaded: boolean, isUnread: boolean): string {
  if (!isLoaded) return '–';
  return isUnread ? (number === 0 ? 'not known' : `${count(number)} or more`) : count(number);
}

/** A queue with this number of dead letters, of which these were read. */
function LetterQueue({
  queue,
  letters,
  number,
}: {
  readonly queue: string;
  readonly letters: readonly QueuedMessage[];
  readonly number: number;
}) {
  const shown = letters.slice(0, maxShown);
  const hasKeys = letters.length === 0 || letters.some(({ controller }) => controller !== undefined);
  return (
    <div class="letter-queue">
      <header>
        <h3>{queue}</h3>
        {hasKeys && (
          <button
            type="button"
            class="button"
            onClick={() => void redrive(queue, `${count(number)} dead letters of ${queue} in all clusters`)}
          >
            <Icon name="retry" />
            Redrive {number === 1 ? '1' : `all ${count(number)}`}
          </button>
        )}
      </header>
      <ul>
        {shown.map((letter) => (
          <Letter key={letter.messageId} letter={letter} />
        ))}
      </ul>
      {number > shown.length && <p class="none">{count(number - shown.length)} more are not shown.</p>}
    </div>
  );
}

function Letter({ letter }: { readonly letter: QueuedMessage }) {
  const { queue, messageId, reason = 'unknown', error, attempts, since, body, controller } = letter;
  const who = letter.id === undefined ? 'a message that is not a key' : shortName(letter.id);
  return (
    <li class="letter">
      <div class="letter-head">
        <Who message={letter} />
        <span class="tag bad">{reason}</span>
        <span class="letter-facts">
          {attempts !== undefined && !reason.includes('attempts') && `${attempts} attempts, `}
          {since !== undefined && `received first ${age(now.value - since)} ago`}
        </span>
        <span class="letter-buttons">
          {controller !== undefined && (
            <button
              type="button"
              class="button small"
              aria-label={`Redrive ${who}`}
              onClick={() => void redrive(queue, `the dead letter of ${whoOf(letter)}`, messageId)}
            >
              Redrive
            </button>
          )}
          <button type="button" class="button small" aria-label={`Delete ${who}`} onClick={() => void remove(letter)}>
            Delete
          </button>
        </span>
      </div>
      {error !== undefined && <p class="letter-error">{error}</p>}
      <details>
        <summary>Message</summary>
        <pre class="stack">{body}</pre>
      </details>
    </li>
  );
}

function List({
  title,
  text,
  messages,
  number,
  none,
  isLoaded,
  isUnread,
}: {
  readonly title: string;
  readonly text: string;
  readonly messages: readonly QueuedMessage[];
  /** All of them, of which some are shown. */
  readonly number: number;
  readonly none: string;
  readonly isLoaded: boolean;
  readonly isUnread: boolean;
}) {
  return (
    <section class="card" aria-label={title}>
      <header class="card-head">
        <h2>
          {title} <span class="count">{shownCount(number, isLoaded, isUnread)}</span>
        </h2>
        <p>{text}</p>
      </header>
      {isLoaded && (isUnread || messages.length === 0) && <p class="none">{isUnread ? notKnown : none}</p>}
      <ul class="messages">
        {messages.slice(0, maxShown).map((one) => (
          <li key={`${one.queue}${one.messageId}`}>
            <Who message={one} />
            <span class={`tag ${one.state === 'in flight' ? 'reconcile' : ''}`}>{one.cause ?? 'no message'}</span>
            <span class="message-facts">{factOf(one)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Several timers of one object for the same second are one reconcile. */
function distinct(timers: readonly QueuedMessage[]): QueuedMessage[] {
  const keyOf = ({ id, messageId, cause, dueAt = 0 }: QueuedMessage) =>
    id === undefined ? messageId : `${id} ${cause} ${Math.floor(dueAt / 1000)}`;
  return [...new Map(timers.map((one) => [keyOf(one), one])).values()];
}

function factOf({ state, dueAt, since, attempts }: QueuedMessage): string {
  const retries = attempts === undefined ? '' : `, attempt ${attempts + 1}`;
  if (state === 'timer') {
    const wait = (dueAt ?? 0) - now.value;
    return `${wait <= 0 ? 'due' : `in ${age(wait)}`}${retries}`;
  }
  return `${state}${since === undefined ? '' : ` for ${age(now.value - since)}`}${retries}`;
}

function Who({ message: { id, controller } }: { readonly message: QueuedMessage }) {
  if (id === undefined) return <span class="who">not a key</span>;
  const row = rows.value.get(id);
  return (
    <span class="who">
      {row === undefined ? (
        <CutName of={displayName(id)} />
      ) : (
        <a href={objectHref(id)}>
          <CutName of={`${row.kind} ${displayName(id)}`} />
        </a>
      )}
      <span class="of"> {controller}</span>
    </span>
  );
}

/** The object of a message for a question, which may be there no more. */
function whoOf({ id, controller = '' }: QueuedMessage): string {
  if (id === undefined) return 'a message that is not a key';
  const row = rows.value.get(id);
  return `${row === undefined ? id : named(row)} (${controller})`;
}

async function redrive(queue: string, letters: string, messageId?: string): Promise<void> {
  const text = 'Its object is reconciled once more. If the cause is not fixed, the dead letter comes back.';
  const action = { type: 'redrive', queue, ...(messageId === undefined ? {} : { messageId }) } as const;
  await perform(action, { verb: 'Redrive', what: letters, text });
}

async function remove(letter: QueuedMessage): Promise<void> {
  const { queue, messageId } = letter;
  const text = 'It is not reconciled because of this message any more. Its next change, or the resync, reconciles it.';
  const question = { verb: 'Delete', what: `the dead letter of ${whoOf(letter)}`, text, isDangerous: true };
  await perform({ type: 'delete', queue, messageId }, question);
}

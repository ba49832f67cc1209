// What can be done with an object, and what its next reconcile would write.
import { useSignal } from '@preact/signals';
import type { ObjectRow, Why } from '../../wire.ts';
import { named, perform, type Question } from '../actions.ts';
import { Icon } from '../parts/icon.tsx';

export function ObjectActions({ row, why }: { readonly row: ObjectRow; readonly why: Why | undefined }) {
  const { id, state } = row;
  const lines = useSignal<readonly string[] | undefined>(undefined);
  const isRunning = useSignal(false);
  const isPaused = state === 'Paused';
  const dryRun = async () => {
    isRunning.value = true;
    lines.value = (await perform({ type: 'dry-run', id }, dryRunQuestion(row)))?.lines;
    isRunning.value = false;
  };
  const pause = async () => {
    await perform({ type: isPaused ? 'resume' : 'pause', id }, pauseQuestion(row));
  };
  return (
    <>
      <div class="actions">
        <button
          type="button"
          class="button small"
          disabled={why?.state === 'paused'}
          title={why?.state === 'paused' ? why.text : undefined}
          onClick={() => void perform({ type: 'reconcile', id }, reconcileQuestion(row))}
        >
          <Icon name="retry" />
          Reconcile now
        </button>
        <button type="button" class="button small" disabled={isRunning.value} onClick={() => void dryRun()}>
          <Icon name="eye" />
          {isRunning.value ? 'Running' : 'Dry run'}
        </button>
        <button type="button" class="button small" onClick={() => void pause()}>
          <Icon name={isPaused ? 'play' : 'pause'} />
          {isPaused ? 'Resume' : 'Pause'}
        </button>
      </div>
      {lines.value !== undefined && (
        <section class="dry-run" aria-label="Dry run">
          <header>
            <h3>The next reconcile would do this</h3>
            <button
              type="button"
              class="icon-button"
              aria-label="Close the dry run"
              onClick={() => {
                lines.value = undefined;
              }}
            >
              <Icon name="close" />
            </button>
          </header>
          <pre>
            {lines.value.map((line, index) => (
              <span key={index} class={toneOfLine(line)}>
                {line}
                {'\n'}
              </span>
            ))}
          </pre>
        </section>
      )}
    </>
  );
}

/** Lines of a dry run begin with `+` (added), `-` (removed) or `~` (changed), indented below their object. */
function toneOfLine(line: string): string {
  const [, mark] = /^ {2}([+~-]) /.exec(line) ?? [];
  return mark === '+' ? 'added' : mark === '-' ? 'removed' : mark === '~' ? 'changed' : 'plain';
}

export function dryRunQuestion(row: ObjectRow): Question {
  const where = 'It runs on your machine with your credentials.';
  const text = `${where} It reads the cluster and other systems, and writes nothing.`;
  return { verb: 'Run dry', what: named(row), text, isHarmless: true };
}

function reconcileQuestion(row: ObjectRow): Question {
  return { verb: 'Reconcile', what: named(row), text: 'A message is sent to its controllers.', isHarmless: true };
}

function pauseQuestion(row: ObjectRow): Question {
  const what = named(row);
  if (row.state === 'Paused') return { verb: 'Resume', what, text: 'It is reconciled at once.', isHarmless: true };
  const text = 'It is not reconciled until it is resumed. Its children stay as they are.';
  return { verb: 'Pause', what, text };
}

// What can be done with an object, and what its next reconcile would write.
import { useSignal } from '@preact/signals';
import type { ObjectRow } from '../../wire.ts';
import { perform, type Question } from '../actions.ts';
import { Icon } from '../parts/icon.tsx';
import { system } from '../store.ts';

export function ObjectActions({ row: { id, name, state } }: { readonly row: ObjectRow }) {
  const lines = useSignal<readonly string[] | undefined>(undefined);
  const isRunning = useSignal(false);
  const isPaused = state === 'Paused';
  const dryRun = async () => {
    isRunning.value = true;
    lines.value = (await perform({ type: 'dry-run', id }, onStage(dryRunQuestion(name))))?.lines;
    isRunning.value = false;
  };
  const pause = async () => {
    await perform(
      { type: isPaused ? 'resume' : 'pause', id },
      isPaused ? onStage(resumeQuestion(name)) : pauseQuestion(name),
    );
  };
  return (
    <>
      <div class="actions">
        <button
          type="button"
          class="button small"
          onClick={() => void perform({ type: 'reconcile', id }, onStage(reconcileQuestion(name)))}
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

/** Actions that can be undone are confirmed on a stage only. */
export function onStage(question: Question): Question | undefined {
  return system.value?.mode === 'stage' ? question : undefined;
}

function reconcileQuestion(name: string): Question {
  return { title: `Reconcile ${name} now?`, text: 'A message is sent to its controllers.', confirm: 'Reconcile' };
}

export function dryRunQuestion(name: string): Question {
  return {
    title: `Run ${name} dry?`,
    text: 'It runs on your machine with your credentials. It reads the cluster and other systems, and writes nothing.',
    confirm: 'Run',
  };
}

function resumeQuestion(name: string): Question {
  return { title: `Resume ${name}?`, text: 'It is reconciled at once.', confirm: 'Resume' };
}

function pauseQuestion(name: string): Question {
  return {
    title: `Pause ${name}?`,
    text: 'It is not reconciled until it is resumed. Its children stay as they are.',
    confirm: 'Pause',
  };
}

// The button that pauses a cluster or a controller, or resumes it.
import type { ConsoleAction } from '../../wire.ts';
import { perform, type Question } from '../actions.ts';
import { Icon } from '../parts/icon.tsx';

type PauseProps = {
  readonly name: string;
  /** For the question. */
  readonly what: string;
  readonly paused: boolean;
  readonly action: ConsoleAction;
  readonly text: string;
};

export function PauseButton({ name, what, paused, action, text }: PauseProps) {
  const question: Question = paused
    ? { verb: 'Resume', what, text: 'What has waited is reconciled now.' }
    : { verb: 'Pause', what, text };
  return (
    <button
      type="button"
      class="button small"
      aria-label={`${paused ? 'Resume' : 'Pause'} ${name}`}
      onClick={() => void perform(action, question)}
    >
      <Icon name={paused ? 'play' : 'pause'} />
      {paused ? 'Resume' : 'Pause'}
    </button>
  );
}

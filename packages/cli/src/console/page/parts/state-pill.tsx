// The state of an object as a coloured pill. The word has the state, too, because many people cannot distinguish the
// colours.
import type { ObjectState } from '../../wire.ts';

const tones: Readonly<Record<ObjectState, string>> = {
  Ready: 'good',
  'Not ready': 'bad',
  Progressing: 'busy',
  Deleting: 'busy',
  Paused: 'neutral',
};

/** The tone of a condition's status. */
export function toneOf(status: string): 'good' | 'bad' | 'neutral' {
  return status === 'True' ? 'good' : status === 'False' ? 'bad' : 'neutral';
}

export function StatePill({ state }: { readonly state: ObjectState }) {
  return (
    <span class={`pill ${tones[state]}`}>
      <span class="pill-dot" aria-hidden="true" />
      {state}
    </span>
  );
}

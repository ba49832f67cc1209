// The state of an object or of a part as a coloured pill. The word has the state, too, because many people cannot
// distinguish the colours.
import type { ObjectRow, Tone } from '../../wire.ts';

type Shown = { readonly state: string; readonly tone: Tone; readonly text?: string };

export function StatePill({ of: { state, tone, text } }: { readonly of: Shown | ObjectRow }) {
  return (
    <span class={`pill ${tone}`} title={text}>
      <span class="pill-dot" aria-hidden="true" />
      {state.charAt(0).toUpperCase() + state.slice(1)}
    </span>
  );
}

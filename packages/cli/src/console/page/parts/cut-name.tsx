// A name on one line, which is cut in its middle where it has no room: names of one kind often differ at their ends
// alone.

/** The end that is always shown; a name of up to twice this length is not cut. */
const endLength = 10;

/** `before` is shown in front of the name, and is cut with it. */
export function CutName({ of: name, before = '' }: { readonly of: string; readonly before?: string }) {
  const isShort = before.length + name.length <= 2 * endLength;
  const at = isShort ? name.length : Math.max(0, name.length - endLength);
  const start = (
    <>
      {before !== '' && <span class="namespace">{before}</span>}
      {name.slice(0, at)}
    </>
  );
  if (isShort) return start;
  return (
    <span class="cut-name" title={before + name}>
      <span>{start}</span>
      <span>{name.slice(at)}</span>
    </span>
  );
}

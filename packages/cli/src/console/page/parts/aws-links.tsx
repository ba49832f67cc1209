// Links to the AWS console, of a stage whose partition has one: the log of a function in a time range, and a trace.
import type { ComponentChildren } from 'preact';
import type { TimeRange } from '../../wire.ts';
import { system } from '../store.ts';

/** The part of the console's URL after `#` is encoded twice, with `$` for `%`. */
const encoded = (text: string) => encodeURIComponent(encodeURIComponent(text)).replaceAll('%', '$');

type LogProps = TimeRange & {
  readonly name: string;
  /** Of one object, by its id. */
  readonly id?: string | undefined;
  readonly children: ComponentChildren;
};

export function LogLink({ name, id, from, to, children }: LogProps) {
  const { cloudWatch, prefix } = system.value?.aws ?? {};
  if (cloudWatch === undefined) return null;
  const pattern = id === undefined ? '' : `{ $.key = ${JSON.stringify(`${name}:${id}`)} }`;
  const query = `$3FfilterPattern$3D${encoded(pattern)}$26start$3D${from}$26end$3D${to}`;
  const group = encoded(`/aws/lambda/${prefix}${name}`);
  return <Outside href={`${cloudWatch}#logsV2:log-groups/log-group/${group}/log-events${query}`}>{children}</Outside>;
}

export function TraceLink({ id }: { readonly id: string | undefined }) {
  const { cloudWatch } = system.value?.aws ?? {};
  if (cloudWatch === undefined || id === undefined) return null;
  return <Outside href={`${cloudWatch}#xray:traces/${encodeURIComponent(id)}`}>trace in X-Ray</Outside>;
}

function Outside({ href, children }: { readonly href: string; readonly children: ComponentChildren }) {
  return (
    <a href={href} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}

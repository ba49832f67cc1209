// A finding of `outrigger doctor`: what was checked, its state, and the fix if it is not ok.
import { redact } from 'outrigger/internal/core/redact';
import { alignColumns } from '../../dev/columns.ts';

/** The result of one check. */
export type Finding = {
  /** `wrong`: it does not work, or will not. `warning`: it works, and needs attention. */
  readonly state: 'ok' | 'warning' | 'wrong';
  /** `queue foo.fifo`, `cluster berlin` */
  readonly about: string;
  readonly message: string;
  /** What to do; absent if the state is ok. */
  readonly fix?: string;
};

/** Makes a finding of state ok. */
export function passFinding(about: string, message: string): Finding {
  return { state: 'ok', about, message };
}

/** Makes a finding of state wrong, with its fix. */
export function failFinding(about: string, message: string, fix: string): Finding {
  return { state: 'wrong', about, message: redact(message), fix };
}

/** Makes a finding of state warning, with its fix. */
export function warnFinding(about: string, message: string, fix: string): Finding {
  return { state: 'warning', about, message: redact(message), fix };
}

/** Formats findings: ok first, then warnings, then wrong, each with its fix, and the counts last. */
export function findingLines(findings: readonly Finding[]): readonly string[] {
  const rank = { ok: 0, warning: 1, wrong: 2 } as const;
  const sorted = findings.toSorted((a, b) => rank[a.state] - rank[b.state]);
  const rows = alignColumns(sorted.map(({ state, about, message }) => [state, about, message]));
  const lines = sorted.flatMap(({ fix }, index) => [
    rows[index] ?? '',
    ...(fix === undefined ? [] : [`         → ${fix}`]),
  ]);
  const count = (state: Finding['state']) => findings.filter((one) => one.state === state).length;
  return [...lines, '', `${count('wrong')} wrong, ${count('warning')} warnings, ${count('ok')} ok`];
}

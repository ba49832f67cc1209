// What `outrigger doctor` finds: each thing it looked at, how it is, and where it is not as it should be, what mends it.
import { redact } from '../../core/redact.ts';
import { alignColumns } from '../../dev/columns.ts';

/** One thing that was looked at. */
export type Finding = {
  /** `wrong`: something does not work, or will not. `warning`: it works, and somebody should look. */
  readonly state: 'ok' | 'warning' | 'wrong';
  /** `queue foo.fifo`, `cluster berlin` */
  readonly about: string;
  readonly says: string;
  /** What to do; absent where nothing is wrong. */
  readonly fix?: string;
};

/** Says that something is as it should be. */
export function ok(about: string, says: string): Finding {
  return { state: 'ok', about, says };
}

/** Says that something is wrong, and what mends it. */
export function wrong(about: string, says: string, fix: string): Finding {
  return { state: 'wrong', about, says: redact(says), fix };
}

/** Says that somebody should look. */
export function warning(about: string, says: string, fix: string): Finding {
  return { state: 'warning', about, says: redact(says), fix };
}

/** Writes findings: what is well first, then what is not, each with what mends it, and last how many there are. */
export function findingLines(findings: readonly Finding[]): readonly string[] {
  const rank = { ok: 0, warning: 1, wrong: 2 } as const;
  const sorted = findings.toSorted((a, b) => rank[a.state] - rank[b.state]);
  const rows = alignColumns(sorted.map(({ state, about, says }) => [state, about, says])).split('\n');
  const lines = sorted.flatMap(({ fix }, index) => [
    rows[index] ?? '',
    ...(fix === undefined ? [] : [`         → ${fix}`]),
  ]);
  const count = (state: Finding['state']) => findings.filter((one) => one.state === state).length;
  return [...lines, '', `${count('wrong')} wrong, ${count('warning')} to look at, ${count('ok')} ok`];
}

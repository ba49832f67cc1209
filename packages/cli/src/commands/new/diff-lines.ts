// The differences of two texts, as lines: enough to see what a command would change in a small file.

/** The lines of context around a difference. */
const contextLines = 2;

/** Returns the changed lines, prefixed with `-` or `+`, with the lines around them. */
export function diffLines(before: string, after: string): readonly string[] {
  const [a, b] = [before, after].map((text) => text.replace(/\n$/, '').split('\n')) as [string[], string[]];
  const lines: string[] = [];
  const common = longestCommon(a, b);
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]];
    if (left !== undefined && left === right) {
      lines.push(`  ${left}`);
      i += 1;
      j += 1;
    } else if (right !== undefined && (left === undefined || lengthAt(common, i, j + 1) > lengthAt(common, i + 1, j))) {
      lines.push(`+ ${right}`);
      j += 1;
    } else {
      lines.push(`- ${left}`);
      i += 1;
    }
  }
  const isNear = (index: number) =>
    lines.slice(Math.max(0, index - contextLines), index + contextLines + 1).some((line) => !line.startsWith('  '));
  return lines.filter((_, index) => isNear(index));
}

/** The length of the longest common subsequence of the rest of both, by their positions. */
function longestCommon(a: readonly string[], b: readonly string[]): readonly (readonly number[])[] {
  const rows: number[][] = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const row = rows[i] ?? [];
      row[j] =
        a[i] === b[j] ? lengthAt(rows, i + 1, j + 1) + 1 : Math.max(lengthAt(rows, i + 1, j), lengthAt(rows, i, j + 1));
    }
  }
  return rows;
}

function lengthAt(rows: readonly (readonly number[])[], i: number, j: number): number {
  return rows[i]?.[j] ?? 0;
}

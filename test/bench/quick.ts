// The bench for CI: what can be counted, on few objects, in less than two minutes; held against what was stored, and to its goals.
import { build } from '../../src/cli/build.ts';
import { makeArtifacts } from '../../src/local/artifacts.ts';
import type { Proof } from '../support/ci-report.ts';
import { f4 } from '../../bench/f4-requests.ts';
import { f5 } from '../../bench/f5-function-size.ts';
import { f6 } from '../../bench/f6-restart.ts';
import { f7 } from '../../bench/f7-resync.ts';
import type { Row } from '../../bench/row.ts';
import { compareCounts, judgeGoals, readCounts, storeCounts } from '../../bench/stored-counts.ts';

const objects = 2_000;
const buildMilliseconds = 120_000;

/** Counts. With `store` what is counted is what later runs are held against. */
export async function runQuick({
  store,
}: {
  readonly store: boolean;
}): Promise<{ readonly rows: readonly Row[]; readonly proofs: readonly Proof[] }> {
  // Not one build for each: those that run would have their bundles taken away.
  await makeArtifacts(build, process.cwd(), AbortSignal.timeout(buildMilliseconds));
  // The two with a control plane wait for silence most of the time.
  const both = Promise.all([f6({ objects, beside: false }), f7({ objects })]);
  const [four, five, six] = await Promise.all([f4(), f5(), both]);
  const rows = [...four, ...five, ...six.flat()];
  const counts = Object.assign({}, ...rows.map((row) => row.counts ?? {}));
  if (store) await storeCounts(counts);
  return { rows, proofs: [...compareCounts(await readCounts(), counts), ...judgeGoals(rows)] };
}

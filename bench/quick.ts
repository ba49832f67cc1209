// The bench for CI: counts with few objects, in less than two minutes, compared with stored counts and with their
// goals.
import { build } from '@outrigger/cli/commands/build';
import type { ReportedCheck } from '../test/support/ci-report.ts';
import { buildArtifacts } from '../tools/artifacts.ts';
import { f1Foreign } from './f1-foreign.ts';
import { f4 } from './f4-requests.ts';
import { f5 } from './f5-function-size.ts';
import { f6 } from './f6-restart.ts';
import { f7 } from './f7-resync.ts';
import type { Row } from './row.ts';
import { checkGoals, compareCounts, readCounts, storeCounts } from './stored-counts.ts';

const objects = 2_000;
const buildMilliseconds = 120_000;

/** Counts. With `store` the counts are stored for later runs. */
export async function runQuick({
  store,
}: {
  readonly store: boolean;
}): Promise<{ readonly rows: readonly Row[]; readonly checks: readonly ReportedCheck[] }> {
  // One build for all: a second build would remove the bundles of running functions.
  await buildArtifacts(build, process.cwd(), AbortSignal.timeout(buildMilliseconds));
  // The two figures with a control plane mostly wait.
  const both = Promise.all([f6({ objects, withPeer: false }), f7({ objects })]);
  const [four, five, six] = await Promise.all([f4(), f5(), both]);
  const rows = [...(await f1Foreign()), ...four, ...five, ...six.flat()];
  const counts = Object.assign({}, ...rows.map((row) => row.counts ?? {}));
  if (store) await storeCounts(counts);
  return { rows, checks: [...compareCounts(await readCounts(), counts), ...checkGoals(rows)] };
}

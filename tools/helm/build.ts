// Builds Helm for the test of the chart, once per machine, from the Go modules that go.mod here pins. `npm run
// test:cluster` runs it first; by hand: `node tools/helm/build.ts`. It takes some minutes when Go's caches are cold.
import { join } from 'node:path';
import { buildFromCommandLine, buildGoTools } from '../../test/support/go-tools.ts';

/** Returns the path of Helm, and builds it first if this machine has not done so. Progress goes to stderr. */
export async function helmBinary(): Promise<{ readonly helm: string }> {
  const folder = await buildGoTools({
    module: import.meta.dirname,
    name: 'helm',
    announcement: 'Helm for the cluster tests (once; some minutes when cold)',
    programs: ['helm'],
    flags: ['-trimpath', '-buildvcs=false', '-ldflags', '-s -w'],
  });
  return { helm: join(folder, 'helm') };
}

if (import.meta.main) await buildFromCommandLine(helmBinary());

// Builds Helm for the test of the chart, and the reader of YAML that kubectl and Helm have, once per machine, from the
// Go modules that go.mod here pins. `npm run test:cluster` runs it first; by hand: `node tools/helm/build.ts`. It takes
// some minutes when Go's caches are cold.
import { join } from 'node:path';
import { buildFromCommandLine, buildGoTools } from '../../test/support/go-tools.ts';

/** Returns the paths of the programs, and builds them first if this machine has not done so. Progress goes to stderr. */
export async function helmBinaries(): Promise<{ readonly helm: string; readonly readYaml: string }> {
  const folder = await buildGoTools({
    module: import.meta.dirname,
    name: 'helm',
    announcement: 'Helm for the cluster tests (once; some minutes when cold)',
    programs: ['helm', 'read-yaml'],
    sources: ['read-yaml/main.go'],
    flags: ['-trimpath', '-buildvcs=false', '-ldflags', '-s -w'],
  });
  return { helm: join(folder, 'helm'), readYaml: join(folder, 'read-yaml') };
}

if (import.meta.main) await buildFromCommandLine(helmBinaries());

// Builds a real Bitcoin node for the cluster tests, once per machine: btcd and btcctl, from the Go modules that go.mod
// here pins. `npm run test:cluster` runs it first; by hand: `node tools/bitcoin-node/build.ts`. It takes some seconds.
import { join } from 'node:path';
import { buildFromCommandLine, buildGoTools } from '../../test/support/go-tools.ts';

/** The programs, as absolute paths. */
export type BitcoinBinaries = {
  readonly btcd: string;
  readonly btcctl: string;
};

/** Returns the programs, and builds them first if this machine has not done so. Progress goes to stderr. */
export async function bitcoinBinaries(): Promise<BitcoinBinaries> {
  const folder = await buildGoTools({
    module: import.meta.dirname,
    name: 'bitcoin-node',
    announcement: 'btcd for the cluster tests (once; about ten seconds)',
    programs: ['btcd', 'btcctl'],
    flags: ['-trimpath', '-buildvcs=false', '-ldflags', '-s -w'],
  });
  return { btcd: join(folder, 'btcd'), btcctl: join(folder, 'btcctl') };
}

if (import.meta.main) await buildFromCommandLine(bitcoinBinaries());

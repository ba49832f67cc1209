// Real Bitcoin nodes for the kubelet of tests: a btcd for every Bitcoin pod, listening at the pod's own address of loopback, on a
// network of its own (simnet) that knows no other nodes. None outlives the test, however that ends (child-processes.ts).
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Pod } from '../../src/simulators/workloads/objects.ts';
import { createChildProcesses } from '../control-plane/child-processes.ts';
import type { Programs } from '../../test/kubelet/program.ts';
import { createBitcoinCli } from '../../test/bitcoin-node/bitcoin-cli.ts';
import { createBtcctl } from '../../test/bitcoin-node/btcctl.ts';
import { bitcoinBinaries } from './build.ts';

/** Real nodes; `pid` is what a test kills. */
export interface BitcoinPrograms extends Programs {
  /** The process at an address, while it runs. */
  pid(ip: string): number | undefined;
}

const PORTS = { peers: 18555, rpc: 18556 };
const USER = 'outrigger';
// A network of its own, whose chain stays empty: a peer that has no blocks to send is not to be dropped for it after 30 s, and nothing
// needs the 250 MiB that btcd would set aside for coins.
const QUIET = { simnet: 1, nodnsseed: 1, nostalldetect: 1, nobanning: 1, nocfilters: 1, utxocachemaxsize: 1 };

/** Prepares for nodes; none runs yet. */
export async function bitcoinPrograms(): Promise<BitcoinPrograms> {
  const binaries = await bitcoinBinaries();
  const folder = await mkdtemp(join(tmpdir(), 'outrigger-bitcoin-'));
  const children = createChildProcesses(folder);
  const pids = new Map<string, number>();
  let started = 0;
  return {
    has: isBitcoin,
    pid: (ip) => pids.get(ip),
    async start(pod, ip) {
      started += 1;
      const name = `${pod.metadata.name}-${started}`;
      const own = join(folder, `${name}.d`);
      await mkdir(own);
      const certificate = join(own, 'rpc.cert');
      const password = randomUUID();
      const configuration = join(own, 'btcd.conf');
      const settings = {
        ...{ ...QUIET, datadir: join(own, 'data'), logdir: join(own, 'log') },
        ...{ listen: `${ip}:${PORTS.peers}`, rpclisten: `${ip}:${PORTS.rpc}`, rpcuser: USER, rpcpass: password },
        ...{ rpccert: certificate, rpckey: join(own, 'rpc.key') },
      };
      const lines = Object.entries(settings).map(([key, value]) => `${key}=${value}`);
      await writeFile(configuration, `[Application Options]\n${lines.join('\n')}\n`, { mode: 0o600 });
      const program = children.start(name, binaries.btcd, ['-C', configuration]);
      pids.set(ip, program.pid);
      void program.exited.then(() => pids.get(ip) === program.pid && pids.delete(ip));
      const cliConfiguration = join(own, 'btcctl.conf');
      await writeFile(
        cliConfiguration,
        `[Application Options]\nrpcuser=${USER}\nrpcpass=${password}\nrpcserver=${ip}:${PORTS.rpc}\nrpccert=${certificate}\nskipverify=1\nsimnet=1\n`,
        { mode: 0o600 },
      );
      const cli = createBitcoinCli(createBtcctl(binaries.btcctl, ['-C', cliConfiguration]));
      return {
        ended: program.exited,
        stop: () => program.stop('SIGKILL'),
        async execute({ command, signal }) {
          const [file = '', ...args] = command;
          if (basename(file) === 'bitcoin-cli') return cli(args, signal);
          return { exitCode: 127, stdout: '', stderr: `${file}: not found\n` };
        },
      };
    },
    close: () => children.close(),
  };
}

function isBitcoin({ spec }: Pod): boolean {
  return spec.containers.some(({ image = '' }) => image.includes('bitcoind'));
}

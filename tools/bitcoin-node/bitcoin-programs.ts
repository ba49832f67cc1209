// Real Bitcoin nodes for the test kubelet: a btcd for every Bitcoin pod, listening on the pod's own loopback address,
// on a private network (simnet) without other nodes. No process outlives the test (child-processes.ts).
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Pod } from '@outrigger/apiserver/workloads/objects';
import { createChildProcesses } from '../control-plane/child-processes.ts';
import type { Programs } from '../kubelet/program.ts';
import { createBitcoinCli } from './bitcoin-cli.ts';
import { createBtcctl } from './btcctl.ts';
import { bitcoinBinaries } from './build.ts';

/** Real nodes. A test kills the process with this `pid`. */
export interface BitcoinPrograms extends Programs {
  /** The running process at an address. */
  pid(ip: string): number | undefined;
}

const nodePorts = { peers: 18555, rpc: 18556 };
const rpcUser = 'outrigger';
// A private network with an empty chain: peers without blocks must not be disconnected after 30 s, and btcd need not
// reserve 250 MiB for its coin cache.
const testSettings = { simnet: 1, nodnsseed: 1, nostalldetect: 1, nobanning: 1, nocfilters: 1, utxocachemaxsize: 1 };

/** Prepares the programs; no node is started yet. */
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
      const nodeFolder = join(folder, `${name}.d`);
      await mkdir(nodeFolder);
      const certificate = join(nodeFolder, 'rpc.cert');
      const password = randomUUID();
      const configuration = join(nodeFolder, 'btcd.conf');
      const settings = {
        ...testSettings,
        datadir: join(nodeFolder, 'data'),
        logdir: join(nodeFolder, 'log'),
        listen: `${ip}:${nodePorts.peers}`,
        rpclisten: `${ip}:${nodePorts.rpc}`,
        rpcuser: rpcUser,
        rpcpass: password,
        rpccert: certificate,
        rpckey: join(nodeFolder, 'rpc.key'),
      };
      const lines = Object.entries(settings).map(([key, value]) => `${key}=${value}`);
      await writeFile(configuration, `[Application Options]\n${lines.join('\n')}\n`, { mode: 0o600 });
      const program = children.start(name, binaries.btcd, ['-C', configuration]);
      pids.set(ip, program.pid);
      void program.exited.then(() => pids.get(ip) === program.pid && pids.delete(ip));
      const cliConfiguration = join(nodeFolder, 'btcctl.conf');
      await writeFile(
        cliConfiguration,
        `[Application Options]\nrpcuser=${rpcUser}\nrpcpass=${password}\nrpcserver=${ip}:${nodePorts.rpc}\nrpccert=${certificate}\nskipverify=1\nsimnet=1\n`,
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

// The command: `npx @outrigger/apiserver` serves until it is stopped, and prints a kubeconfig.
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { startApiServer } from './server.ts';

const help = `Usage: npx @outrigger/apiserver [options]

A Kubernetes API server in this process. All objects are in memory, and are gone when it ends.

Options:
  --port NUMBER        the port; 0, the default, takes a free one
  --host ADDRESS       the address to listen on (default: 127.0.0.1)
  --allow-host NAME    a further name by which clients may address the server, as in a network of containers
  --workloads          makes Deployments and StatefulSets ready and completes Jobs, as a cluster does; no container runs
  --kubeconfig FILE    writes the kubeconfig to a file, instead of to standard output
  --help               prints this text

Example:
  npx @outrigger/apiserver --kubeconfig kubeconfig &
  kubectl --kubeconfig kubeconfig create configmap one --from-literal=a=b
`;
const highestPort = 65_535;

/** Serves until SIGINT or SIGTERM. Throws for a wrong argument. */
async function main(): Promise<void> {
  const { port, host, 'allow-host': allowedHosts, workloads, kubeconfig, help: asked } = readArguments();
  if (asked === true) {
    process.stdout.write(help);
    return;
  }
  if (!/^\d{1,5}$/.test(port) || Number(port) > highestPort) {
    throw new Error(`--port ${port} is not a number from 0 to ${highestPort}`);
  }
  const server = await startApiServer({ port: Number(port), host, allowedHosts, workloads });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.close());
  if (kubeconfig === undefined) process.stdout.write(server.kubeconfig());
  else await writeFile(kubeconfig, server.kubeconfig());
  const next = kubeconfig === undefined ? '' : `: kubectl --kubeconfig ${kubeconfig}`;
  process.stderr.write(`${server.url} ready after ${Math.round(performance.now())} ms${next}\n`);
}

function readArguments() {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '0' },
      host: { type: 'string', default: '127.0.0.1' },
      'allow-host': { type: 'string', multiple: true, default: [] },
      workloads: { type: 'boolean', default: false },
      kubeconfig: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  return values;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n(--help shows the options)\n`);
  process.exitCode = 1;
}

// The lower bound, as a program: `node contestant.ts ping default`; its contract is in ../contestant.ts.
import { KubeConfig } from '@kubernetes/client-node';
import * as z from 'zod';
import { createPlainApi } from '../../../tools/chaos/plain-api.ts';
import { createQueue } from '../client-node/queue.ts';

const apiVersion = 'bench.example.com/v1';
const kind = 'Ping';
const all = `/apis/${apiVersion}/pings`;
const apply = { 'content-type': 'application/apply-patch+yaml' };
const ping = z.object({
  metadata: z.object({ namespace: z.string(), name: z.string(), resourceVersion: z.string() }),
  spec: z.object({ value: z.number() }),
  status: z.object({ observed: z.number().optional() }).optional(),
});
const list = z.object({ metadata: z.object({ resourceVersion: z.string() }), items: z.array(ping) });
const event = z.object({ object: ping });

const config = new KubeConfig();
config.loadFromDefault();
const cluster = config.getCurrentCluster();
const token = config.getCurrentUser()?.token;
const api = createPlainApi({
  url: cluster?.server ?? '',
  ...(cluster?.caData === undefined ? {} : { ca: Buffer.from(cluster.caData, 'base64').toString() }),
  ...(token === undefined ? {} : { token }),
});

const stopping = new AbortController();
process.on('SIGTERM', () => {
  stopping.abort();
  process.exit(0);
});

const { items, metadata } = list.parse(await requestJson('GET', all));
const enqueue = createQueue(reconcile, (error) => process.stderr.write(`${String(error)}\n`), stopping.signal);
let version = metadata.resourceVersion;
for (const object of items) enqueue(keyOf(object));
process.stdout.write('ready\n');
// An API server may end a watch at any time.
while (!stopping.signal.aborted) {
  const query = `watch=true&resourceVersion=${version}`;
  await api.follow(`${all}?${query}`, (line) => change(JSON.parse(line)), stopping.signal);
}

function change(line: unknown): void {
  const { object } = event.parse(line);
  version = object.metadata.resourceVersion;
  if (object.status?.observed !== object.spec.value) enqueue(keyOf(object));
}

function keyOf({ metadata: { namespace, name } }: z.output<typeof ping>): string {
  return `/apis/${apiVersion}/namespaces/${namespace}/pings/${name}`;
}

async function reconcile(path: string): Promise<void> {
  const read = ping.parse(await requestJson('GET', path));
  if (read.status?.observed === read.spec.value) return;
  const { namespace, name, resourceVersion } = read.metadata;
  const status = { observed: read.spec.value };
  const body = { apiVersion, kind, metadata: { namespace, name, resourceVersion }, status };
  await requestJson('PATCH', `${path}/status?fieldManager=bare-node&force=true`, body);
}

async function requestJson(method: string, path: string, body?: object): Promise<unknown> {
  const response = await api.call(method, path, body, body === undefined ? {} : apply);
  if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status}`);
  return response.body;
}

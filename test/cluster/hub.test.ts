// The fleet watcher as it is installed: the overlay of the hub in one real cluster, and in another one exactly the rights
// that `outrigger clusters access` prints for it. Excluded: many clusters (tools/chaos/fleet), and a watcher that is refused
// something (test/forwarding/health.test.ts, test/checkpoint).
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { clustersCommand } from '@outrigger/cli/commands/clusters/clusters';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { checkpointName, systemNamespace, watcherAccount } from '../../src/core/names.ts';
import { parseWatchList } from '../../src/core/watch-list.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { parseMessage } from '../../src/sqs/message.ts';
import type { ControlPlane } from '../../tools/control-plane/control-plane.ts';
import { runHere } from '../cli/command-result.ts';
import { startTestQueues } from '../sqs/fauxqs.ts';
import { useFolder } from '../support/folder.ts';
import { sampleBase, sampleWatchList, writeFiles } from '../support/sample-manifests.ts';
import { startWatcherProcess } from '../watcher/watcher-process.ts';
import { everyServiceAccountsPermissions, listPermissions } from './can-i.ts';
import { generated, type UsedPlane, usePlane } from './plane.ts';

const account = 'fleet-watcher';
const user = `system:serviceaccount:${systemNamespace}:${account}`;
const resources = parseWatchList(sampleWatchList).resources;
const kinds = resources.map(({ group, plural }) => `${group}/${plural}`);
/** What the role of a watcher is made of, besides the rights of every user. */
const wanted = [
  ...kinds.flatMap((kind) => [`list ${kind}`, `watch ${kind}`]),
  ...[`get /configmaps ${checkpointName}`, `patch /configmaps ${checkpointName}`, 'get /namespaces kube-system'],
];
const timeout = 120_000;

const [hub, member] = [await usePlane(), await usePlane({ auditLog: true, applies: generated })];
const queues = await startTestQueues();
afterAll(() => queues.stop());
const folder = useFolder({ shared: true });
const tokenOf = async ({ kubectl }: UsedPlane, name: string) =>
  (await kubectl.output(['create', 'token', name])).trim();

beforeAll(async () => {
  const controllers = resources.flatMap(({ subscribers }) => subscribers.map(({ controller }) => `${controller}.fifo`));
  await queues.create('timers', ...new Set(controllers));
  const { plane, kubectl } = member;
  await kubectl.output(['wait', '--for=condition=Established', '--timeout=30s', 'crd', '--all']);
  await kubectl.output(['create', 'serviceaccount', account]);
  const entry = { server: plane.url, ca: plane.ca, access: { type: 'token', token: await tokenOf(member, account) } };
  await folder.write('clusters.json', JSON.stringify({ member: entry }));
  await bind(plane);
}, timeout);

/** Runs the commands that are printed for the watcher, in a shell. The functions have an identity of their own. */
async function bind({ kubectlPath, kubeconfig }: ControlPlane): Promise<void> {
  const { out } = await runHere(clustersCommand(), [
    ...['access', 'member', '--stage', 'prod', '--table', folder.at('clusters.json')],
    ...['--fleet-watcher', '--user', user],
  ]);
  const commands = out.split('\n').filter((line) => line.includes('--clusterrole=outrigger-watcher'));
  expect(commands).toHaveLength(1);
  const env = { PATH: `${path.dirname(kubectlPath)}:/usr/bin:/bin`, KUBECONFIG: kubeconfig(), HOME: folder.path };
  await promisify(execFile)('/bin/sh', ['-euc', commands.join('\n')], { env });
}

async function permissionsAt(at: UsedPlane, name: string): Promise<readonly string[]> {
  const { url, ca } = at.plane;
  const token = await tokenOf(at, name);
  const client = createClient({ server: new URL(url), ca, token: async () => token });
  try {
    const all = await listPermissions(client, systemNamespace);
    return all.filter((permission) => !everyServiceAccountsPermissions.includes(permission));
  } finally {
    client.close();
  }
}

const image = `registry.example.com/outrigger-watcher@sha256:${'0'.repeat(64)}`;

it('the base of a fleet watcher is accepted, its pod is admitted, and its service account has no right in the hub', async () => {
  const { kubectl } = hub;
  const base = folder.at('hub');
  await writeFiles(base, await sampleBase({ fleet: true, image, settings: { CLUSTERS: 's3://tables/clusters.json' } }));
  await kubectl.output(['apply', '--server-side', '-k', base]);
  const deployment = JSON.parse(await kubectl.output(['get', 'deployment', watcherAccount, '-o', 'json']));
  const { metadata, spec } = deployment.spec.template;
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name: 'one' }, spec };
  const created = await kubectl.run(['create', '-f', '-'], { manifest: pod });
  expect({ status: created.status, stderr: created.stderr }).toEqual({ status: 0, stderr: '' });
  expect(spec).toMatchObject({ serviceAccountName: watcherAccount, automountServiceAccountToken: false });
  expect(await permissionsAt(hub, watcherAccount)).toEqual([]);
});

it(
  'a fleet watcher with exactly the printed rights sends keys, is refused nothing, and uses every right',
  async () => {
    const { plane, kubectl } = member;
    expect([...(await permissionsAt(member, account))].sort()).toEqual([...wanted].sort());

    const watcher = startWatcherProcess({
      CLUSTER: '',
      CLUSTERS: folder.at('clusters.json'),
      CHECKPOINT_SECONDS: '1',
      QUEUE_URL_PREFIX: queues.urlPrefix,
      AWS_ENDPOINT_URL: queues.endpoint,
    });
    onTestFinished(async () => {
      watcher.kill('SIGKILL');
      await watcher.ended;
    });
    await watcher.logged('watching');
    await kubectl.output(['apply', '--server-side', '-f', 'infra/kubernetes/samples/ingredient.yaml']);
    const messages = await queues.drain('ingredient.fifo', { waitSeconds: 20 });
    expect(messages.map(({ Body = '' }) => parseMessage(Body))).toMatchObject([{ cluster: 'member', name: 'salt' }]);

    const requests = async () => (await plane.auditEvents()).filter((event) => event.user.username === user);
    const used = async () => {
      const all = (await requests()).map(({ verb, objectRef: { apiGroup = '', resource, name = '' } = {} }) =>
        `${verb} ${apiGroup}/${resource} ${name}`.trimEnd(),
      );
      return [...new Set(all)].filter((one) => !everyServiceAccountsPermissions.includes(one)).sort();
    };
    await expect.poll(used, { timeout: 20_000 }).toEqual([...wanted].sort());
    expect((await requests()).filter(({ responseStatus }) => responseStatus?.code === 403)).toEqual([]);
  },
  timeout,
);

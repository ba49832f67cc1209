// The whole way into an EKS cluster but for AWS itself: a reconcile function with a role's credentials in its environment, a
// clusters table that says eks, a real kube-apiserver that asks an authenticator about tokens, and the generated roles, bound to
// the groups of the access entries. Excluded: what is in a token (test/clusters/eks-token.test.ts).
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { foo, fooKind } from '../../src/controllers/foo.ts';
import { registry } from '../../src/controllers/registry.ts';
import { systemNamespace } from '../../src/core/names.ts';
import { accessEntries } from '../../src/generate/rbac/access-entries.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { createReconcileHandler } from '../../src/lambda/reconcile-handler.ts';
import { formatMessage, parseMessage } from '../../src/queue/message.ts';
import { createEksAuthenticator, type KnownIdentity } from '../clusters/auth/eks-authenticator.ts';
import type { ControlPlane } from '../../tools/control-plane/control-plane.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { aContext, anEvent, aRecord } from '../lambda/invocation.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { aMessage } from '../queue/messages.ts';
import { createKubectl } from './kubectl.ts';
import { startTokenWebhook, type TokenWebhook } from './token-webhook.ts';

const region = 'eu-central-1';
const arnOf = (role: string) => `arn:aws:iam::000000000000:role/${role}`;
const identityOf = (role: string): KnownIdentity => ({
  accessKeyId: `ASIA${role.toUpperCase()}`,
  secretAccessKey: `secret of ${role}`,
  sessionToken: `session+of/${role}==`,
  arn: arnOf(role),
});
const roles = { foo: identityOf('foo'), dinner: identityOf('dinner'), stranger: identityOf('stranger') };

/** What EKS holds for the cluster: the access entry of each function's role but the stranger's, as the registry says. */
const groups = new Map(accessEntries(registry).map((entry) => [arnOf(entry.function), [entry.group]]));
const refused = new Set<string>();
const seen: string[] = [];
const authenticate = createEksAuthenticator({
  cluster: 'prod-1',
  hosts: [`sts.${region}.amazonaws.com`],
  identities: Object.values(roles),
  now: () => new Date(),
});

let webhook: TokenWebhook;
let plane: ControlPlane;
let admin: KubeClient;
let queues: TestQueues;
let folder: string;
beforeAll(async () => {
  webhook = await startTokenWebhook((token) => {
    seen.push(token);
    const { arn } = authenticate(token);
    const entry = groups.get(arn);
    if (entry === undefined) throw new Error(`${arn} has no access entry`);
    if (refused.has(token)) throw new Error('refused');
    return { username: arn, groups: entry };
  });
  plane = await startControlPlane({
    apiServerFlags: webhook.apiServerFlags,
    auditLog: true,
    enableAdmission: ['OwnerReferencesPermissionEnforcement'],
  });
  admin = createClient(plane.connection());
  const kubectl = await createKubectl(plane.kubectlPath, plane.kubeconfig(), systemNamespace);
  await kubectl.say(['apply', '--server-side', '-k', 'infra/kubernetes/generated']);
  await kubectl.say(['wait', '--for=condition=Established', '--timeout=30s', 'crd/foos.samples.example.com']);
  await kubectl.close();
  queues = await startTestQueues();
  await queues.create('foo.fifo', 'foo-dlq.fifo', 'timers');
  folder = await mkdtemp(path.join(tmpdir(), 'outrigger-eks-'));
  const access = { type: 'eks', cluster: 'prod-1', region };
  const prod = { server: plane.url, ca: plane.ca, access };
  await writeFile(path.join(folder, 'clusters.json'), JSON.stringify({ prod }));
});
afterAll(async () => {
  admin.close();
  await Promise.all([plane.stop(), queues.stop(), rm(folder, { recursive: true })]);
  await webhook.close();
});

beforeEach(() => runAs(roles.foo));
afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
  refused.clear();
});

/** The environment of a function with a role, as Lambda makes it. */
function runAs({ accessKeyId, secretAccessKey, sessionToken = '' }: KnownIdentity): void {
  const environment = {
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
    AWS_ENDPOINT_URL_SQS: queues.endpoint,
    QUEUE_URL_PREFIX: queues.urlPrefix,
    CLUSTERS: path.join(folder, 'clusters.json'),
    LOG_LEVEL: 'ERROR',
    POWERTOOLS_METRICS_DISABLED: 'true',
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
}

async function create(name: string): Promise<void> {
  const { apiVersion, kind, group, plural } = fooKind;
  const body = { apiVersion, kind, metadata: { name }, spec: { deploymentName: `${name}-nginx`, replicas: 1 } };
  await admin.request({ method: 'POST', path: `/apis/${group}/v1/namespaces/default/${plural}`, body });
}

/** The event of one message about a Foo. */
function eventOf(name: string) {
  const { group, plural: resource } = fooKind;
  const message = aMessage({ controller: 'foo', cluster: 'prod', group, resource, namespace: 'default', name });
  return anEvent(aRecord(name, formatMessage({ ...message, lane: 'watch', seenAt: Date.now() })));
}

const statusOf = async (name: string) => (await getObject(admin, fooKind, { namespace: 'default', name }))?.status;
const observed = { observedGeneration: 1 };

/** Waits for the timer of an object. */
async function timerOf(name: string): Promise<unknown> {
  for (;;) {
    const due = await queues.drain('timers', { waitSeconds: 20 });
    const mine = due.map(({ Body = '' }) => parseMessage(Body)).find((message) => message.name === name);
    if (mine !== undefined) return mine;
  }
}

/** Has the authenticator refuse a token, and waits until the API server knows it: it remembers who a token was for 10 s. */
async function refuse(token: string): Promise<void> {
  refused.add(token);
  const client = createClient({ server: new URL(plane.url), ca: plane.ca, token: async () => token });
  const ask = async () =>
    await client.request({ method: 'GET', path: '/api' }).then(
      ({ status }) => status,
      (error: unknown) => (error instanceof ApiError ? error.status : error),
    );
  await expect.poll(ask, { timeout: 40_000, interval: 500 }).toBe(401);
  client.close();
}

/** Minutes later, by this process's clock alone. */
function minutesLater(minutes: number): void {
  vi.setSystemTime(Date.now() + minutes * 60_000);
}

describe('a reconcile function with an EKS entry', () => {
  it('does its work as its role, in the group of its access entry, and asks STS’ question once for all of it', async () => {
    await create('one');
    const before = seen.length;
    const handler = createReconcileHandler(foo);
    expect(await handler(eventOf('one'), aContext())).toEqual({ batchItemFailures: [] });
    expect(await statusOf('one')).toMatchObject(observed);
    expect(new Set(seen.slice(before)).size).toBe(1);
    const written = (await plane.auditEvents()).filter(({ user }) => user.username === roles.foo.arn);
    expect(
      written.map(({ verb, objectRef }) => `${verb} ${objectRef?.resource}/${objectRef?.subresource ?? ''}`),
    ).toEqual(expect.arrayContaining(['patch deployments/', 'patch foos/status', 'create events/']));
    expect(written.filter(({ responseStatus }) => responseStatus?.code === 403)).toEqual([]);
  });

  it('goes on with a new token when 14 minutes are over, and when one is refused', async () => {
    await create('two');
    await create('three');
    const handler = createReconcileHandler(foo);
    await handler(eventOf('two'), aContext());
    const first = seen.at(-1);
    minutesLater(14);
    await create('four');
    await handler(eventOf('four'), aContext());
    const second = seen.at(-1);
    expect(second).not.toBe(first);
    expect(await statusOf('four')).toMatchObject(observed);

    minutesLater(1);
    await refuse(second ?? '');
    expect(await handler(eventOf('three'), aContext())).toEqual({ batchItemFailures: [] });
    expect(seen.at(-1)).not.toBe(second);
    expect(await statusOf('three')).toMatchObject(observed);
    expect(await queues.drain('foo-dlq.fifo')).toEqual([]);
  });

  it('whose role has another’s access entry may not do its work', async () => {
    runAs(roles.dinner);
    await create('five');
    const before = seen.length;
    await createReconcileHandler(foo)(eventOf('five'), aContext());
    expect(seen.length).toBeGreaterThan(before);
    expect(await statusOf('five')).toBeUndefined();
    const events = (await plane.auditEvents()).filter(({ user }) => user.username === roles.dinner.arn);
    expect(new Set(events.map(({ responseStatus }) => responseStatus?.code))).toEqual(new Set([403]));
  });

  it('whose role has no access entry puts its keys off, and does them once it has one', async () => {
    runAs(roles.stranger);
    await create('six');
    const handler = createReconcileHandler(foo);
    expect(await handler(eventOf('six'), aContext())).toEqual({ batchItemFailures: [] });
    expect(await queues.drain('foo-dlq.fifo')).toEqual([]);
    expect(await timerOf('six')).toMatchObject({ lane: 'retry', attempt: 0, deferrals: 1 });
    expect(await statusOf('six')).toBeUndefined();
    groups.set(roles.stranger.arn, groups.get(roles.foo.arn) ?? []);
    await handler(eventOf('six'), aContext());
    expect(await statusOf('six')).toMatchObject(observed);
  });
});

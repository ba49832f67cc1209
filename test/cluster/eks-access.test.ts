// The whole access to an EKS cluster except for AWS itself: a reconcile function with a role's credentials in its
// environment, a clusters table with an EKS entry, a real kube-apiserver with an authenticator webhook, and the
// generated roles, bound to the groups of the access entries. Excluded: the content of a token
// (test/clusters/auth/eks-token.test.ts).
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Foo, foo } from '../../src/controllers/foo.ts';
import { registry } from '../../src/controllers/registry.ts';
import { accessEntries } from '../../src/generate/rbac/access-entries.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { createReconcileHandler } from '../../src/lambda/reconcile-handler.ts';
import { formatMessage, parseMessage } from '../../src/sqs/message.ts';
import { type KnownIdentity, roleIdentity } from '../clusters/auth/eks-authenticator.ts';
import { aContext, anEvent, aRecord } from '../lambda/invocation.ts';
import { startTestQueues } from '../sqs/fauxqs.ts';
import { aMessage, asChange } from '../sqs/messages.ts';
import { useFolder } from '../support/folder.ts';
import { generated, usePlane } from './plane.ts';
import { startTokenWebhook } from './token-webhook.ts';

const region = 'eu-central-1';
const identityOf = (role: string) => roleIdentity(role, '000000000000');
const roles = { foo: identityOf('foo'), dinner: identityOf('dinner'), stranger: identityOf('stranger') };

/** The access entries of the EKS cluster: one for each function's role except the stranger's, as in the registry. */
const groups = new Map(accessEntries(registry).map((entry) => [identityOf(entry.function).arn, entry.group]));
const seen: string[] = [];
const webhook = await startTokenWebhook({
  cluster: 'prod-1',
  region,
  identities: Object.values(roles),
  groups,
  onToken: (token) => void seen.push(token),
});
afterAll(() => webhook.close());
const { plane, kubectl, clientOf } = await usePlane({
  apiServerFlags: webhook.apiServerFlags,
  auditLog: true,
  enableAdmission: ['OwnerReferencesPermissionEnforcement'],
  applies: generated,
});
const admin = clientOf();
const queues = await startTestQueues();
afterAll(() => queues.stop());
const folder = useFolder({ shared: true });
beforeAll(async () => {
  await kubectl.output(['wait', '--for=condition=Established', '--timeout=30s', 'crd/foos.samples.example.com']);
  await queues.create('foo.fifo', 'foo-dlq.fifo', 'timers');
  const access = { type: 'eks', cluster: 'prod-1', region };
  const prod = { server: plane.url, ca: plane.ca, access };
  await folder.write('clusters.json', JSON.stringify({ prod }));
});

beforeEach(() => runAs(roles.foo));
afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

/** Sets the environment of a function with a role, as Lambda does. */
function runAs({ accessKeyId, secretAccessKey, sessionToken = '' }: KnownIdentity): void {
  const environment = {
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
    AWS_ENDPOINT_URL_SQS: queues.endpoint,
    QUEUE_URL_PREFIX: queues.urlPrefix,
    CLUSTERS: folder.at('clusters.json'),
    LOG_LEVEL: 'ERROR',
    MONITORING: 'off',
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
}

async function create(name: string): Promise<void> {
  const { apiVersion, kind, group, plural } = Foo;
  const body = { apiVersion, kind, metadata: { name }, spec: { deploymentName: `${name}-nginx`, replicas: 1 } };
  await admin.request({ method: 'POST', path: `/apis/${group}/v1/namespaces/default/${plural}`, body });
}

/** The event of one message about a Foo. */
function eventOf(name: string) {
  const { group, plural: resource } = Foo;
  const message = aMessage({
    controller: 'foo',
    cluster: 'prod',
    group,
    resource,
    namespace: 'default',
    name,
    ...asChange({ observedAt: Date.now() }),
  });
  return anEvent(aRecord(name, formatMessage(message)));
}

const statusOf = async (name: string) => (await getObject(admin, Foo, { namespace: 'default', name }))?.status;
const observed = { observedGeneration: 1 };

/** Waits for the timer of an object. */
async function timerOf(name: string): Promise<unknown> {
  for (;;) {
    const due = await queues.drain('timers', { waitSeconds: 20 });
    const mine = due.map(({ Body = '' }) => parseMessage(Body)).find((message) => message.name === name);
    if (mine !== undefined) return mine;
  }
}

describe('a reconcile function with an EKS entry', () => {
  // Control T35.
  it('a reconcile function acts as its role, in the group of its access entry, with one token for all requests', async () => {
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

  // Control T36.
  it("a reconcile function whose role has another function's access entry is denied access", async () => {
    runAs(roles.dinner);
    await create('five');
    const before = seen.length;
    await createReconcileHandler(foo)(eventOf('five'), aContext());
    expect(seen.length).toBeGreaterThan(before);
    expect(await statusOf('five')).toBeUndefined();
    const events = (await plane.auditEvents()).filter(({ user }) => user.username === roles.dinner.arn);
    expect(new Set(events.map(({ responseStatus }) => responseStatus?.code))).toEqual(new Set([403]));
  });

  it('a reconcile function whose role has no access entry postpones its keys, and reconciles them once it has one', async () => {
    runAs(roles.stranger);
    await create('six');
    const handler = createReconcileHandler(foo);
    expect(await handler(eventOf('six'), aContext())).toEqual({ batchItemFailures: [] });
    expect(await queues.drain('foo-dlq.fifo')).toEqual([]);
    expect(await timerOf('six')).toMatchObject({ cause: { type: 'retry', attempt: 0, postponements: 1 } });
    expect(await statusOf('six')).toBeUndefined();
    groups.set(roles.stranger.arn, groups.get(roles.foo.arn) ?? '');
    await handler(eventOf('six'), aContext());
    expect(await statusOf('six')).toMatchObject(observed);
  });
});

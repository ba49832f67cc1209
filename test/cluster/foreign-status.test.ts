// Controllers that write the status of kinds with their published CRDs, cert-manager's Certificate and a GatewayClass, as
// their own users on a real kube-apiserver: what kubectl waits for, and what the generated roles and policies refuse. The
// batteries run in memory, with the same CRDs. A kind of Cluster API is test/statements/foreign-status.test.ts.

import { importCrd } from '@outrigger/cli/import/import-crd';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import type { Kind } from '../../src/api/kind.ts';
import { controllerIdentity } from '../../src/core/names.ts';
import { rbacOf } from '../../src/generate/rbac/rbac.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { isPolicyDenied } from '../../src/kube/client/errors.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { createReconcile } from '../../src/reconciling/reconcile.ts';
import { withoutQueue } from '../../src/reconciling/without-queue.ts';
import { battery } from '../../src/testing.ts';
import { silent } from '../reconciling/widgets.ts';
import { asChange } from '../sqs/messages.ts';
import { accepter, Certificate, GatewayClass, issuer } from '../statements/foreign-status.ts';
import { applyDefinition } from '../support/established.ts';
import { certManager, crdOfModule, gatewayApi } from '../support/module-crds.ts';
import { createKubectl } from './kubectl.ts';
import { answerTo, untilEffective, usePlane } from './plane.ts';

const crds: readonly KubeObject[] = [
  await crdOfModule(certManager, 'crd-certificates.yaml'),
  await crdOfModule(gatewayApi, 'gateway.networking.k8s.io_gatewayclasses.yaml'),
];
const certificate = (...dnsNames: readonly string[]) => ({
  apiVersion: 'cert-manager.io/v1',
  kind: 'Certificate',
  metadata: { namespace: 'default', name: 'x' },
  spec: { secretName: 'x-tls', dnsNames, issuerRef: { name: 'ours' } },
});
const gatewayClass = (description: string) => ({
  apiVersion: GatewayClass.apiVersion,
  kind: 'GatewayClass',
  metadata: { name: 'ours' },
  spec: { controllerName: 'example.com/gateway', description },
});

describe.each([
  [issuer, [certificate('a.example.com'), certificate('b.example.com')]],
  [accepter, [gatewayClass('one'), gatewayClass('two')]],
] as const)('the battery of $name', (controller: ControllerDefinition, samples) => {
  for (const { name, run } of battery(controller, { samples, crds })) it(name, run);
});

const registry = [issuer, accepter];
const { plane, clientOf } = await usePlane({
  users: registry.map(({ name }) => ({ name: controllerIdentity(name) })),
  applies: rbacOf(registry, watchListOf(registry)),
});
const admin = clientOf();
const kubectl = await createKubectl(plane.kubectlPath, plane.kubeconfig(), 'default');
afterAll(() => kubectl.close());
const user = { fieldManager: 'user' };
const reconcile = async (
  { name, declaration, start }: ControllerDefinition,
  key: { name: string; namespace?: string },
) => {
  const { group, plural: resource } = declaration.resource;
  const once = withoutQueue(createReconcile({ name, declaration, instance: start({}), now: () => new Date() }));
  return await once({
    client: clientOf(controllerIdentity(name)),
    messageId: 'm',
    log: silent,
    signal: AbortSignal.timeout(30_000),
    message: { controller: name, cluster: 'test', group, resource, ...key, ...asChange({ observedAt: 0 }) },
  });
};
const x = { namespace: 'default', name: 'x' };
const ours = { name: 'ours' };
const patchStatus = async (controller: ControllerDefinition, kind: Kind, key: typeof ours, body: object) =>
  await answerTo(
    clientOf(controllerIdentity(controller.name)),
    { method: 'PATCH', path: objectPath(kind, key, 'status'), body, contentType: 'application/merge-patch+json' },
    isPolicyDenied,
  );

beforeAll(async () => {
  for (const crd of crds) await applyDefinition(admin, crd);
  await applyObject(admin, Certificate, certificate('a.example.com'), user);
  await applyObject(admin, GatewayClass, gatewayClass('one'), user);
  // Another value each time: the policy lets a patch without a change pass.
  const probe = () => ({ status: { nextPrivateKeySecretName: `probe-${Date.now()}` } });
  await untilEffective(async () => (await patchStatus(issuer, Certificate, x, probe())) !== 'allowed');
}, 300_000);

it('kubectl waits for Ready of a Certificate, and for that of its next generation', async () => {
  const wait = ['wait', '--for=condition=Ready', 'certificate/x', '--timeout'];
  expect((await kubectl.run([...wait, '1s'])).status).toBe(1);
  expect(await reconcile(issuer, x)).toMatchObject({ outcome: { type: 'done' }, noops: 0 });
  expect(await kubectl.output([...wait, '30s'])).toContain('certificate.cert-manager.io/x condition met');
  await applyObject(admin, Certificate, certificate('b.example.com'), user);
  // The condition has the generation from before.
  expect((await kubectl.run([...wait, '1s'])).status).toBe(1);
  await reconcile(issuer, x);
  expect(await kubectl.output([...wait, '30s'])).toContain('condition met');
  const { status, metadata } = { ...(await getObject(admin, Certificate, x)) };
  expect(status).toMatchObject({
    revision: metadata?.generation,
    notAfter: expect.stringMatching(/Z$/),
    conditions: [
      { type: 'Issuing', status: 'False', observedGeneration: metadata?.generation },
      { type: 'Ready', status: 'True', observedGeneration: metadata?.generation, message: 'b.example.com' },
    ],
  });
  expect(await reconcile(issuer, x)).toMatchObject({ writes: 0, noops: 0 });
});

it('a failure is shown by Ready, and the other conditions and fields stay', async () => {
  await applyObject(admin, Certificate, certificate('a.example.com'), user);
  await reconcile(issuer, x);
  await applyObject(admin, Certificate, certificate(), user);
  expect((await reconcile(issuer, x)).outcome).toMatchObject({ type: 'failed' });
  expect((await getObject(admin, Certificate, x))?.status).toMatchObject({
    revision: expect.any(Number),
    conditions: [{ type: 'Issuing' }, { type: 'Ready', status: 'Unknown', reason: 'Retrying', message: 'no names' }],
  });
});

it('a GatewayClass has its condition, over the status that its CRD gives to a new one', async () => {
  expect(await reconcile(accepter, ours)).toMatchObject({ outcome: { type: 'done' } });
  expect((await getObject(admin, GatewayClass, ours))?.status).toMatchObject({
    conditions: [{ type: 'Accepted', status: 'True', reason: 'Accepted', observedGeneration: 1 }],
  });
  expect(await kubectl.output(['wait', '--for=condition=Accepted', 'gatewayclass/ours', '--timeout', '30s'])).toContain(
    'condition met',
  );
  expect(await reconcile(accepter, ours)).toMatchObject({ writes: 0, noops: 0 });
});

it('the policy permits the declared fields and conditions of the status, and nothing else of the object', async () => {
  const message = 'issuer may only change status.notAfter, status.revision and the conditions Ready, Issuing';
  const condition = (type: string) => ({ type, status: 'True', reason: 'A', message: '', lastTransitionTime: null });
  expect(await patchStatus(issuer, Certificate, x, { status: { revision: 7 } })).toBe('allowed');
  for (const body of [
    { status: { renewalTime: '2027-01-01T00:00:00Z' } },
    { status: { conditions: [condition('Ready'), condition('Issuing'), condition('Another')] } },
  ])
    expect(await patchStatus(issuer, Certificate, x, body)).toContain(message);
  // The API server itself leaves out the rest of an object of a CRD here.
  await patchStatus(issuer, Certificate, x, { metadata: { labels: { a: 'b' } }, spec: { secretName: 'other' } });
  const { spec, metadata } = { ...(await getObject(admin, Certificate, x)) };
  expect([spec, metadata?.labels]).toEqual([expect.objectContaining({ secretName: 'x-tls' }), undefined]);
});

it('import crd says what a CRD has: conditions with an observedGeneration, or no status subresource', () => {
  for (const crd of crds) expect(importCrd(crd).text).toContain("  status: 'observed-conditions',\n");
  const spec = Object(structuredClone(crds[0]?.spec));
  for (const version of spec.versions) version.subresources = undefined;
  expect(importCrd({ ...crds[0], spec }).text).toContain("  status: 'no-subresource',\n");
});

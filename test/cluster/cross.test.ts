// The cross-cutting statements that depend on the server (X5, X7, X8, X15, X16, X17), as the generated roles' users on a
// real kube-apiserver that enforces owner references and has no garbage collector.
import { afterAll, describe, expect, it } from 'vitest';
import { registry } from '../../src/controllers/registry.ts';
import { controllerIdentity } from '../../src/core/names.ts';
import { createClient, type KubeRequest } from '../../src/kube/client/client.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { namespaceCases } from '../cross/border-cases.ts';
import { deletionCases } from '../cross/deletion-cases.ts';
import { damageCases, ownersCases, takenCases } from '../cross/ownership-cases.ts';
import { idleCases } from '../cross/steady-cases.ts';
import { raceCases } from '../cross/writes-cases.ts';
import { startClusterHarness } from './cross-harness.ts';

const { plane, harness, close } = await startClusterHarness();
afterAll(close);
/** A child that has a controller, and one of each built-in workload. For all controllers: test/cross on the server in memory. */
const ofEachChild = {
  ...harness,
  registry: harness.registry.filter(({ name }) => ['dinner', 'foo', 'bitcoin-network'].includes(name)),
};

describe('objects that do not change', () => idleCases(harness));
describe('writes of controllers', () => {
  raceCases(harness);
  it.each(
    registry,
  )('X8: $name: the user of its role may change only the status and its own finalizer of its object', async (controller) => {
    await using system = await harness.open(controller);
    const { resource } = controller.declaration;
    const { metadata } = await system.create();
    const own = objectPath(resource, metadata);
    const user = createClient(plane.connection(controllerIdentity(controller.name)));
    /** Returns the status of the response to a write. */
    const statusOfWrite = async (
      request: Pick<KubeRequest, 'method' | 'path' | 'body' | 'contentType'>,
    ): Promise<number> => {
      try {
        return (await user.request(request)).status;
      } catch (error) {
        if (error instanceof ApiError) return error.status;
        throw error;
      }
    };
    const contentType = 'application/merge-patch+json';
    const body = { metadata: { labels: { 'example.com/by': 'its-own-controller' } } };
    const subject = await system.subject();
    expect(await statusOfWrite({ method: 'PUT', path: own, body: subject })).toBe(403);
    expect(await statusOfWrite({ method: 'PUT', path: `${own}/status`, body: subject })).toBe(403);
    expect(await statusOfWrite({ method: 'DELETE', path: own })).toBe(403);
    // RBAC rejects writes of controllers without a finalizer, the policy the others. The policy takes a moment to
    // become effective.
    const deadline = Date.now() + 30_000;
    let patched = await statusOfWrite({ method: 'PATCH', path: own, contentType, body });
    while (patched === 200 && Date.now() < deadline) {
      const other = { metadata: { labels: { 'example.com/by': `its-own-controller-${Date.now()}` } } };
      patched = await statusOfWrite({ method: 'PATCH', path: own, contentType, body: other });
    }
    expect(patched).toBe(403);
    user.close();
  });
});
describe('deletions', () => deletionCases(harness));
describe('namespaces', () => namespaceCases(ofEachChild));
describe('children', () => {
  takenCases(ofEachChild);
  ownersCases(ofEachChild);
  damageCases(ofEachChild);
});

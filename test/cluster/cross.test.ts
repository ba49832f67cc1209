// The cross-cutting statements that the server decides (X5, X7, X8, X16, X17), as the generated roles' users on a real kube-apiserver.
// X15 is cross-children.test.ts.
import { afterAll, describe, expect, it } from 'vitest';
import { registry } from '../../src/controllers/registry.ts';
import { controllerIdentity } from '../../src/core/names.ts';
import { createClient, type KubeRequest } from '../../src/kube/client/client.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { namespaceCases } from '../cross/border-cases.ts';
import { deletionCases } from '../cross/deletion-cases.ts';
import { idleCases } from '../cross/steady-cases.ts';
import { raceCases } from '../cross/writes-cases.ts';
import { startClusterTheatre } from './cross-harness.ts';

const { plane, theatre, close } = await startClusterTheatre();
afterAll(close);

describe('a steady world', () => idleCases(theatre));
describe('writes', () => {
  raceCases(theatre);
  it.each(
    registry,
  )('X8: $name: its role’s user changes nothing of its object but the status and its finalizer', async (controller) => {
    await using stage = await theatre.open(controller);
    const { resource } = controller.declares;
    const { metadata } = await stage.create();
    const own = objectPath(resource, metadata);
    const user = createClient(plane.connection(controllerIdentity(controller.name)));
    /** The status of the answer to a write. */
    const answer = async (request: Pick<KubeRequest, 'method' | 'path' | 'body' | 'contentType'>): Promise<number> => {
      try {
        return (await user.request(request)).status;
      } catch (error) {
        if (error instanceof ApiError) return error.status;
        throw error;
      }
    };
    const contentType = 'application/merge-patch+json';
    const body = { metadata: { labels: { 'example.com/by': 'its-own-controller' } } };
    const whole = await stage.subject();
    expect(await answer({ method: 'PUT', path: own, body: whole })).toBe(403);
    expect(await answer({ method: 'PUT', path: `${own}/status`, body: whole })).toBe(403);
    expect(await answer({ method: 'DELETE', path: own })).toBe(403);
    // RBAC refuses what has no finalizer, the policy the rest; it takes a moment to be in force.
    const giveUpAt = Date.now() + 30_000;
    let patched = await answer({ method: 'PATCH', path: own, contentType, body });
    while (patched === 200 && Date.now() < giveUpAt) {
      const other = { metadata: { labels: { 'example.com/by': `its-own-controller-${Date.now()}` } } };
      patched = await answer({ method: 'PATCH', path: own, contentType, body: other });
    }
    expect(patched).toBe(controller.declares.finalizes ? 422 : 403);
    user.close();
  });
});
describe('deletions', () => deletionCases(theatre));
describe('namespaces', () => namespaceCases(theatre));

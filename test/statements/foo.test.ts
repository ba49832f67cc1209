// What is asked of Foo (F1 to F12), as cases for any API server that runs no Deployment controller. F4 is owner.test.ts, F6 with a garbage collector is cascade.test.ts, what real Deployments do test/cluster/deployment-chain.test.ts,
// what holds for every controller (F7, F8) every-controller.test.ts.

import { describe, expect, it } from 'vitest';
import { Foo as foos } from '../../src/controllers/foo.ts';
import { Deployment } from '../../src/kubernetes.ts';
import { dueAtOf, parseMessage } from '../../src/sqs/message.ts';
import { useApiServer } from '../harness/api-server.ts';
import { useSystem } from './harness.ts';
import { conditionOf } from './user.ts';

const one = { deploymentName: 'example-foo', replicas: 1 };

const { connect } = await useApiServer({ controllers: 'none' });
const system = useSystem(connect);

const deployment = async (name = 'example-foo') => await system.read(Deployment, name);
const names = async () => (await system.list(Deployment)).map(({ metadata }) => metadata.name).sort();
const synced = '1 x Normal Synced: Foo synced successfully';
const taken = '1 x Warning ErrResourceExists: Resource "example-foo" already exists and is not managed by Foo';
/** A Foo with its Deployment. */
const made = async (spec: object = one) => {
  const { metadata } = await system.apply(foos, 'a', spec);
  await system.reconcile(foos, 'a');
  return metadata;
};
const stranger = async () =>
  await system.apply(Deployment, 'example-foo', {
    selector: { matchLabels: { app: 'other' } },
    template: { metadata: { labels: { app: 'other' } }, spec: { containers: [{ name: 'c', image: 'other' }] } },
  });

describe('Foo', () => {
  it('F1, F6: it has the Deployment that it names, which it controls, and says once that it is so', async () => {
    const { uid } = await made();
    const { metadata, spec } = await deployment();
    const labels = { app: 'nginx', controller: 'a' };
    expect(spec).toMatchObject({
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'nginx', image: 'nginx:latest' }] } },
    });
    const { apiVersion, kind } = foos;
    const owner = { apiVersion, kind, name: 'a', uid, controller: true, blockOwnerDeletion: true };
    expect(metadata.ownerReferences).toEqual([owner]);
    expect(await system.events()).toEqual([synced]);
  });

  it('F2: more replicas reach the Deployment, and what others wrote on it stays', async () => {
    await made();
    const theirs = { labels: { team: 'blue' }, annotations: { note: 'hands off' } };
    await system.patch(Deployment, 'example-foo', { metadata: theirs });
    await made({ ...one, replicas: 2 });
    expect((await deployment()).spec).toMatchObject({ replicas: 2 });
    expect((await deployment()).metadata).toMatchObject(theirs);
  });

  it('F7: its removal concerns no Foo, so the retry heals it', async () => {
    await stranger();
    await made();
    expect(system.waiting()).toHaveLength(1);
    await system.delete(Deployment, 'example-foo');
    expect(await system.deliver()).toBe(0);
    await system.pass(60);
    expect((await deployment()).metadata.ownerReferences).toMatchObject([{ kind: 'Foo', name: 'a' }]);
    expect(await system.events()).toEqual([synced, taken]);
  });

  it('F7: when the retries are over, the resync heals it', async () => {
    await stranger();
    await made();
    await system.pass(24 * 3600);
    expect(await system.deadLetters('foo')).toHaveLength(1);
    expect(await system.events()).toEqual([taken]);
    expect(system.waiting()).toEqual([]);
    await system.delete(Deployment, 'example-foo');
    await system.tick();
    await system.pass(600);
    expect((await deployment()).metadata.ownerReferences).toMatchObject([{ kind: 'Foo', name: 'a' }]);
  });

  it('F9: under a new name it has a new Deployment, and the one of the old name goes; the replicas that were available are kept while a name is taken', async () => {
    await stranger();
    await made({ deploymentName: 'old' });
    const counts = { observedGeneration: 1, replicas: 1, readyReplicas: 1, availableReplicas: 1 };
    await system.patch(Deployment, 'old', { status: counts }, 'status');
    await system.reconcile(foos, 'a');
    await made({ deploymentName: 'example-foo' });
    const { status } = await system.read(foos, 'a');
    expect(status).toMatchObject({ availableReplicas: 1, conditions: [{ reason: 'NotOwned' }, {}, {}] });
    await made({ deploymentName: 'new' });
    expect(await names()).toEqual(['example-foo', 'new']);
  });

  it('F10: without replicas there is one, and a user’s scale is kept, also when replicas were said before', async () => {
    await made({ deploymentName: 'example-foo' });
    expect((await deployment()).spec).toMatchObject({ replicas: 1 });
    await made({ ...one, replicas: 3 });
    await made({ deploymentName: 'example-foo' });
    await system.patch(Deployment, 'example-foo', { spec: { replicas: 5 } });
    const scaled = await deployment();
    await system.reconcile(foos, 'a');
    expect(await deployment()).toEqual(scaled);
  });

  it('F11: Synced is recorded once for each generation', async () => {
    await made();
    await system.reconcile(foos, 'a');
    expect(await system.events()).toEqual([synced]);
    await system.apply(foos, 'a', { ...one, replicas: 2 });
    await system.reconcile(foos, 'a', 'a');
    expect(await system.events()).toEqual([synced.replace('1 x', '2 x')]);
  });

  it('F12, V8: a forbidden child is retried with backoff, delays no other object, and is not retried once created', async () => {
    system.forbid(({ method, path }) => method === 'PATCH' && path.includes('/deployments/bad'));
    await system.apply(foos, 'bad', { deploymentName: 'bad' });
    await system.apply(foos, 'good', { deploymentName: 'good' });
    await system.reconcile(foos, 'bad', 'good');
    expect(await names()).toEqual(['good']);
    for (let tries = 1; tries <= 6; tries += 1) {
      const [next = ''] = system.waiting();
      const dueAt = dueAtOf(parseMessage(next)) ?? 0;
      // It doubles from 2 s; the key's own jitter and the grid of due times make of it half to twice and a bit that.
      expect(dueAt - system.clock.ms / 1000).toBeGreaterThanOrEqual(2 ** tries / 2);
      expect(dueAt - system.clock.ms / 1000).toBeLessThan(2 ** tries * 2.5);
      // SQS delays a message by whole seconds.
      system.clock.ms = Math.ceil(dueAt * 1000) + 1000;
      expect(await system.deliver()).toBe(1);
    }
    const refused = conditionOf(await system.read(foos, 'bad'), 'DeploymentAvailable');
    expect(refused).toMatchObject({ status: 'False', reason: 'ChildRefused' });
    expect(refused?.message).toContain('you may not do that');
    system.revive();
    await system.pass(300);
    expect(await names()).toEqual(['bad', 'good']);
    expect(system.waiting()).toEqual([]);
  });
});

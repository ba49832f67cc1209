// recordEvent, as test cases for any API server.
import { expect, it } from 'vitest';
import { type EventRequest, recordEvent } from '../../../src/kube/apply/events.ts';
import type { ResourceName } from '../../../src/kube/client/object.ts';
import { type ListOptions, listPages } from '../../../src/kube/client/read.ts';
import { useApiServer } from '../../harness/api-server.ts';
import { useNamespace } from '../namespace.ts';

const eventsOf: ResourceName = { group: '', version: 'v1', plural: 'events', namespaced: true };
const { connect } = await useApiServer();
const fixture = useNamespace(connect);
const record = (change: Partial<EventRequest> = {}) =>
  recordEvent(fixture.client, {
    object: fixture.owner,
    type: 'Normal',
    reason: 'Created',
    message: 'made it',
    reportingController: 'outrigger.dev/test',
    now: () => new Date('2026-01-02T03:04:05.678Z'),
    ...change,
  });
async function recorded(options: ListOptions = { namespace: fixture.namespace }) {
  const found: unknown[] = [];
  for await (const page of listPages(fixture.client, eventsOf, options)) found.push(...page.items);
  return found;
}

it('recordEvent creates an Event with object, controller and time, and increments the count and last time of an equal one', async () => {
  expect(await record()).toEqual({ recorded: true, count: 1 });
  const { namespace } = fixture;
  const times = { firstTimestamp: '2026-01-02T03:04:05Z', lastTimestamp: '2026-01-02T03:04:05Z' };
  const created = {
    involvedObject: { kind: 'ConfigMap', name: 'owner', namespace, uid: fixture.owner.metadata.uid },
    type: 'Normal',
    reason: 'Created',
    message: 'made it',
    count: 1,
    ...times,
    source: { component: 'outrigger.dev/test' },
  };
  expect(await recorded()).toMatchObject([created]);
  await record();
  expect(await record({ now: () => new Date('2026-01-02T04:00:00Z') })).toEqual({ recorded: true, count: 3 });
  expect(await recorded()).toMatchObject([{ ...created, count: 3, lastTimestamp: '2026-01-02T04:00:00Z' }]);
});

it.each<[string, () => Partial<EventRequest>]>([
  ['reason', () => ({ reason: 'Scaled' })],
  ['message', () => ({ message: 'made another' })],
  ['type', () => ({ type: 'Warning' })],
  [
    'object of the same name',
    () => ({ object: { ...fixture.owner, metadata: { ...fixture.owner.metadata, uid: 'v' } } }),
  ],
])('recordEvent creates another Event for another %s', async (_, change) => {
  await record();
  await record(change());
  expect(await recorded()).toHaveLength(2);
});

it.each([
  'system:Node',
  'a..b',
  'a.-b',
  'n'.repeat(253),
])('recordEvent creates an Event of the cluster-scoped object %s in default, under a valid name', async (name) => {
  const uid = crypto.randomUUID();
  await record({ object: { kind: 'ClusterRole', metadata: { name, uid } } });
  const found = await recorded({ namespace: 'default', fieldSelector: `involvedObject.uid=${uid}` });
  expect(found).toMatchObject([{ metadata: { name: expect.stringMatching(/^[a-z0-9.-]+$/) } }]);
});

it('the message of an Event has no credential, and is of bounded length', async () => {
  await record({ message: `token=hunter2 ${'x'.repeat(600)}😀` });
  expect(await recorded()).toMatchObject([{ message: expect.stringMatching(/^token=\[redacted\] x{400,500}…$/) }]);
});

it('recordEvent returns the error of an Event that cannot be written', async () => {
  const object = { ...fixture.owner, metadata: { ...fixture.owner.metadata, namespace: 'missing' } };
  expect(await record({ object })).toMatchObject({ recorded: false, error: { status: 404 } });
});

// Only why a reconcile ran: from the change of a child in the watcher to the message and the log line; and that no
// reconciler sees it (the context has no such member: api/context.ts). The line of `outrigger dev` is in
// test/dev/lines.test.ts.
import { expect, it } from 'vitest';
import type { WatchedResource } from '../../src/core/watch-list.ts';
import { affectedKeys } from '../../src/forwarding/predicates.ts';
import { desiredMetadata, toTrackedObject } from '../../src/forwarding/tracked-objects.ts';
import { parsePartialMetadata } from '../../src/kube/watch/partial-metadata.ts';
import { keyFields } from '../../src/reconciling/report.ts';
import { type Message, parseMessage } from '../../src/sqs/message.ts';
import { forwarderFixture } from '../forwarding/forwarder-harness.ts';
import { keyGroup } from './batch-harness.ts';

const primary = { group: 'kitchen.test', version: 'v1', plural: 'dishes', kind: 'Dish', namespaced: true };
const pods: WatchedResource = {
  group: '',
  version: 'v1',
  plural: 'pods',
  kind: 'Pod',
  namespaced: true,
  subscribers: [{ controller: 'dish', as: 'owned', primary, predicate: 'any' }],
};
const owner = { apiVersion: 'kitchen.test/v1', kind: 'Dish', name: 'soup', uid: 'u-soup', controller: true };

/** The change or deletion of a pod of the dish `soup`, as the watch loop adds it. */
function podChange(name: string, resourceVersion: string, type: 'changed' | 'gone' = 'changed') {
  const metadata = {
    name,
    namespace: 'shop',
    uid: `u-${name}`,
    resourceVersion,
    generation: 1,
    ownerReferences: [owner],
  };
  const object = toTrackedObject(pods, parsePartialMetadata({ metadata }, desiredMetadata(pods)));
  const change = type === 'changed' ? { type, after: object } : { type, version: resourceVersion, last: object };
  const [affected] = affectedKeys({ resource: pods, cluster: 'c' }, { namespace: 'shop', name }, undefined, change);
  if (affected === undefined) throw new Error('the change affects no key');
  return affected;
}

/** Returns what the function logs about a message that it has received. */
function logged(message: Message): object {
  return JSON.parse(JSON.stringify(keyFields(keyGroup(message))));
}

async function sent(...changes: readonly ReturnType<typeof podChange>[]): Promise<Message> {
  const { forwarder, nextCall } = forwarderFixture();
  for (const { target, source } of changes) forwarder.add({ target, source, observedAt: 1_000 });
  const [entry] = (await nextCall()).entries;
  return parseMessage(entry?.body ?? '');
}

it('the message of a child’s change names the child, and so does the log line', async () => {
  const message = await sent(podChange('soup-0', '7'));
  expect(message).toMatchObject({ name: 'soup', cause: { type: 'change', object: ['', 'pods', 'shop', 'soup-0'] } });
  expect(logged(message)).toMatchObject({ name: 'soup', cause: 'change', causedBy: 'pods/shop/soup-0' });
  const deletion = await sent(podChange('soup-0', '7', 'gone'));
  expect(logged(deletion)).toMatchObject({ causedBy: 'pods/shop/soup-0 (deleted or no longer selected)' });
});

it('a merged message counts all its causes, and names the newest and three others', async () => {
  const message = await sent(...[1, 2, 3, 4, 5, 6].map((version) => podChange(`soup-${version}`, `${version}`)));
  expect(logged(message)).toMatchObject({
    causedBy: 'pods/shop/soup-6',
    merged: 5,
    mergedCauses: [5, 4, 3].map((version) => `change pods/shop/soup-${version}`),
  });
});

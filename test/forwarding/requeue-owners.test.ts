// How long a request for owners holds back the low watermark of the requesting collection, if the owners are not listed
// yet. Which loops request, and which keys are sent, is missed-deletions.test.ts.
import { expect, it } from 'vitest';
import { createAckTracker } from '../../src/forwarding/acknowledgements.ts';
import { createOwnerRequeues } from '../../src/forwarding/requeue-owners.ts';
import { createWorkQueue } from '../../src/forwarding/work-queue.ts';

const target = (name: string) => ({ controller: 'dish', cluster: 'c', group: 'g', resource: 'dishes', name });

it('a request before the first list holds back the low watermark until SQS accepted every key of the list', () => {
  const workQueue = createWorkQueue();
  const ownerRequeues = createOwnerRequeues((_controller, held) => {
    for (const name of ['soup', 'stew'])
      workQueue.add({ target: target(name), observedAt: 0, run: 'r', acks: held }, 0);
  }, Date.now);
  const acks = createAckTracker();
  ownerRequeues.request('dish', acks);
  acks.advance('100');
  ownerRequeues.complete();
  expect(acks.lowWatermark()).toBeUndefined();
  const [soup, stew] = workQueue.take(2, 0);
  for (const one of [soup, stew]) {
    expect(acks.lowWatermark()).toBeUndefined();
    if (one !== undefined) workQueue.done(one, 'accepted', 0);
  }
  expect(acks.lowWatermark()).toBe('100');
});

it('a request holds back the low watermark only until the list, if no key is sent', () => {
  const ownerRequeues = createOwnerRequeues(() => undefined, Date.now);
  const acks = createAckTracker();
  ownerRequeues.request('dish', acks);
  acks.advance('100');
  expect(acks.lowWatermark()).toBeUndefined();
  ownerRequeues.complete(0);
  expect(acks.lowWatermark()).toBe('100');
});

it.each([
  ['has sent', true],
  ['waits to send', false],
])('a request whose keys another one %s holds back its low watermark until SQS accepted them, too', (_, isListed) => {
  const workQueue = createWorkQueue();
  const ownerRequeues = createOwnerRequeues(
    (_controller, held) => workQueue.add({ target: target('soup'), observedAt: 0, run: 'r', acks: held }, 0),
    () => 0,
  );
  if (isListed) ownerRequeues.complete();
  const [shop, office, attic] = [createAckTracker(), createAckTracker(), createAckTracker()];
  for (const acks of [shop, office]) {
    ownerRequeues.request('dish', acks, 0);
    acks.advance('100');
  }
  if (!isListed) ownerRequeues.complete();
  expect([shop, office].map((acks) => acks.lowWatermark())).toEqual([undefined, undefined]);
  for (const soup of workQueue.take(2, 0)) workQueue.done(soup, 'accepted', 0);
  ownerRequeues.request('dish', attic, 0);
  attic.advance('100');
  expect([shop, office, attic].map((acks) => acks.lowWatermark())).toEqual(['100', '100', '100']);
});

it('the requests of several lists that begin within a second send the objects of a controller once', () => {
  let nowMs = 0;
  const sent: string[] = [];
  const ownerRequeues = createOwnerRequeues(
    (controller) => sent.push(`${controller} ${nowMs}`),
    () => nowMs,
  );
  const request = (controller: string, missedUntilMs: number) =>
    ownerRequeues.request(controller, createAckTracker(), missedUntilMs);
  for (const one of ['dish', 'other', 'dish']) request(one, 500);
  nowMs = 1_000;
  ownerRequeues.complete();
  expect(sent).toEqual(['dish 1000', 'other 1000']);
  nowMs = 5_000;
  request('dish', 2_000);
  expect(sent).toHaveLength(2);
  request('dish', 2_001);
  request('dish', 4_000);
  expect(sent.slice(2)).toEqual(['dish 5000']);
});

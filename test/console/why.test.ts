// Only the sentence about an object in the console: why it is in its state, and the action that ends it.
import { FunctionTroubles } from '@outrigger/cli/console/health';
import { stateOf } from '@outrigger/cli/console/object-state';
import { whyOf } from '@outrigger/cli/console/why';
import type { QueuedMessage, TimelineEntry } from '@outrigger/cli/console/wire';
import { expect, it } from 'vitest';
import { waterTank } from '../../src/controllers/water-tank.ts';
import { pausedAnnotation } from '../../src/core/names.ts';
import { ConfigMap } from '../../src/kubernetes.ts';

const id = 'local:watertanks.plant.example.com/default/north';
const condition = { type: 'Ready', status: 'False', reason: 'BelowTarget', message: 'level 3 of 30' };
const object = {
  metadata: { name: 'north', namespace: 'default', generation: 1 },
  status: { observedGeneration: 1, conditions: [condition] },
};
const isReady = { type: 'Ready', status: 'True', reason: 'Holding', message: '', observedGeneration: 1 };
const ready = { ...object, status: { observedGeneration: 1, conditions: [isReady] } };
const retries = { type: 'Reconciling', status: 'True', reason: 'Retrying', message: 'no pump' };
const retrying = { ...object, status: { observedGeneration: 1, conditions: [isReady, retries] } };
const hidden = 'with LOG_LEVEL=WARN functions log no run that succeeds';
const paused = { ...object, metadata: { ...object.metadata, annotations: { [pausedAnnotation]: 'true' } } };
const run = (fields: Partial<TimelineEntry>): TimelineEntry => ({
  at: 1,
  type: 'reconcile',
  controller: 'water-tank',
  text: 'ran',
  outcome: 'done',
  ...fields,
});
const failed = run({ outcome: 'failed', error: 'no pump', attempts: 2 });
const logged = { ...failed, deadLetterReason: 'retries exhausted after 3 attempts' };
const more = { 'water-tank-dlq.fifo': 7 };
const unread = ['water-tank-dlq.fifo'];
const letter = { queue: 'water-tank-dlq.fifo', messageId: 'm', state: 'dead', body: '' } as const;
const dead: QueuedMessage = { ...letter, id, controller: 'water-tank' };
const crash = JSON.stringify({ message: 'Uncaught Exception', errorType: 'Runtime.ImportModuleError', error: 'boom' });
const redrive = { type: 'redrive', queue: 'water-tank-dlq.fifo', messageId: 'm' };

it.each([
  ['is paused', { object: paused }, 'paused', 'its annotation', { type: 'resume', id }],
  [
    ...(['of a paused controller', { controllers: ['water-tank'] }, 'paused', 'water-tank is paused'] as const),
    { type: 'resume-controller', controller: 'water-tank' },
  ],
  [
    ...(['of a paused cluster', { isClusterPaused: true }, 'paused', 'local is paused'] as const),
    { type: 'resume-cluster', cluster: 'local' },
  ],
  ['is a dead letter', { timeline: [failed], messages: [dead] }, 'dead letter', 'no pump', redrive],
  [
    ...(['is one of the dead letters, by the log', { timeline: [logged], more }, 'dead letter', 'no pump'] as const),
    { type: 'redrive', queue: 'water-tank-dlq.fifo', id },
  ],
  ['was a dead letter that is gone', { timeline: [logged] }, 'failing', 'no pump', undefined],
  ['has another dead letter', { messages: [{ ...dead, id: `${id}-2` }] }, 'not ready', 'level 3 of 30', undefined],
  ['may have a dead letter', { object: ready, more }, 'unknown', 'dead letter is not known', undefined],
  [
    'has dead letters that nobody can read',
    { object: ready, unread },
    'unknown',
    'dead letter is not known',
    undefined,
  ],
  ['fails', { timeline: [failed] }, 'failing', 'attempt 3 ended as failed: no pump', undefined],
  [
    'failed in a run that may be over',
    { object: ready, timeline: [failed], hidden },
    'settled',
    'succeeded',
    undefined,
  ],
  ['fails by its conditions', { object: retrying, hidden }, 'failing', 'its last reconcile ended as failed', undefined],
  ['progresses', {}, 'not ready', 'it is not Ready: BelowTarget: level 3 of 30', undefined],
  ['waits for code that cannot load', { log: crash }, 'not ready', 'its function cannot be loaded: boom', undefined],
])('an object that %s says so, with what ends it', async (_, given: object, state, text, action) => {
  const facts = {
    object,
    controllers: [],
    isClusterPaused: false,
    timeline: [],
    messages: [],
    more: {},
    unread: [],
    log: '',
    hidden: undefined,
    ...given,
  };
  const troubles = new FunctionTroubles();
  troubles.add(facts.log, 'water-tank', 1);
  troubles.setHidden(facts.hidden);
  const deps = {
    project: 'outrigger',
    troubles,
    pausedControllers: async () => new Set<string>(facts.controllers),
    isClusterPaused: async () => facts.isClusterPaused,
    queues: async () => ({ messages: facts.messages, more: facts.more, unread: facts.unread }),
  };
  const { signal } = new AbortController();
  const about = { id, timeline: facts.timeline };
  expect(await whyOf([waterTank], facts.object, about, deps, signal)).toMatchObject({
    state,
    text: expect.stringContaining(text),
    ...(action === undefined ? {} : { action }),
  });
});

it.each([
  [
    'a failure that is logged',
    { outcome: 'failed', attempt: 2, error: 'no zone' },
    0,
    'unknown',
    'as failed: no zone; a later',
  ],
  ['nothing that is logged', undefined, 0, 'unknown', hidden],
  ['a dead letter whose failure is logged', { outcome: 'failed', error: 'no zone' }, 1, 'dead letter', 'no zone'],
] as const)('where the log hides runs, an object without conditions of ours with %s is not settled', (_, last, deadLetters, state, why) => {
  const { name, declaration } = ConfigMap.controller('maps', { reconcile: async () => undefined });
  const facts = { hidden, last, deadLetters, finalizer: '', project: 'outrigger' };
  const found = stateOf({ metadata: object.metadata }, { name, declaration }, facts);
  expect(found).toMatchObject({ state, why: expect.stringContaining(why) });
  const unloaded = stateOf({ metadata: object.metadata }, { name, declaration: undefined }, facts);
  expect(unloaded).toMatchObject({ state, why: expect.stringContaining(why) });
});

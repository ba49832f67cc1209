// Which watchers send a cluster's keys to the queues of a stage, from watch checkpoints in the in-memory API server.
// Excluded: what a move does with the answer (move.test.ts).

import { type ApiServer, startApiServer } from '@outrigger/apiserver';
import { readWatched } from '@outrigger/cli/commands/clusters/move/watched';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type CheckpointScope, entryNameOf, formatCheckpoint } from '../../../../src/checkpoint/document.ts';
import { dinner } from '../../../../src/controllers/dinner.ts';
import { foo } from '../../../../src/controllers/foo.ts';
import { checkpointName, systemNamespace } from '../../../../src/core/names.ts';
import { watchListOf } from '../../../../src/generate/watch-list.ts';
import { applyObject } from '../../../../src/kube/apply/apply.ts';
import { createClient, type KubeClient } from '../../../../src/kube/client/client.ts';
import { ConfigMap, Namespace } from '../../../../src/kubernetes.ts';

const { signal } = new AbortController();
const nowMs = Date.parse('2026-01-01T12:00:00Z');
const registry = [foo, dinner];
const [ours, theirs] = ['https://sqs.example.com/1/prod- one', 'https://sqs.example.com/1/canary- one'];

let server: ApiServer;
let client: KubeClient;
beforeEach(async () => {
  server = await startApiServer({ now: () => new Date(nowMs) });
  client = createClient({ server: new URL(server.url) });
});
afterEach(async () => {
  client.close();
  await server.close();
});

/** A kind that a watcher lists, and when it confirmed that last, in seconds before now. */
type Listed = CheckpointScope & { readonly plural: string; readonly agoSeconds?: number };

async function watchedWith(text: string | undefined) {
  const metadata = { name: systemNamespace };
  await applyObject(client, Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata }, { fieldManager: 'test' });
  if (text !== undefined) {
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: checkpointName, namespace: systemNamespace },
      data: { checkpoint: text },
    };
    await applyObject(client, ConfigMap, object, { fieldManager: 'test' });
  }
  const options = { cluster: 'a', registry, project: 'outrigger', namespaces: undefined, queues: ours };
  // The entries are as old as the clock of the API server says: this machine's is an hour ahead.
  return await readWatched(client, options, { nowMs: nowMs + 3_600_000, signal });
}

function checkpointOf(all: readonly Listed[]): string {
  const { resources } = watchListOf(registry, 'outrigger');
  const entries = all.map(({ plural, agoSeconds = 30, ...scope }) => {
    const resource = resources.find((one) => one.plural === plural);
    if (resource === undefined) throw new Error(`${plural} is not watched`);
    return [entryNameOf(resource, scope), { version: '17', confirmedAtMs: nowMs - agoSeconds * 1000 }] as const;
  });
  return formatCheckpoint({ cluster: 'uid', entries: new Map(entries) });
}

const foos = { plural: 'foos', cluster: 'a', queues: ours };
const dinners = { plural: 'dinners', cluster: 'a', queues: ours };
it.each<readonly [string, readonly Listed[], boolean]>([
  ['is watched for the queues if every primary kind was listed for them', [foos, dinners], true],
  ['is watched for the queues beside a watcher of other queues', [foos, { ...foos, queues: theirs }], true],
  ['is watched by a watcher with a namespace of its own', [{ ...foos, namespace: 'team' }], true],
  ['is watched if a primary kind is listed by no watcher, because it is not served', [foos], true],
  ['is watched by a watcher of version 0.1, whose entries have no cluster', [{ ...foos, cluster: undefined }], true],
  ['is not watched if it is listed under another name only', [{ ...foos, cluster: 'b' }], false],
  ['is not watched if a primary kind is listed for other queues only', [foos, { ...dinners, queues: theirs }], false],
  ['is not watched if a kind was confirmed more than three minutes ago', [{ ...foos, agoSeconds: 181 }], false],
  ['is not watched if only a child kind is listed', [{ plural: 'deployments', queues: ours }], false],
])('a cluster %s', async (_, listed, watched) => {
  expect(await watchedWith(checkpointOf(listed))).toMatchObject({ byOurs: watched });
});

it.each([
  ['no checkpoint', undefined],
  ['an empty checkpoint', ''],
  ['a checkpoint that cannot be parsed', '{'],
])('a cluster with %s is not watched', async (_, text) => {
  expect(await watchedWith(text)).toEqual({ byOurs: false, byOthers: false });
});

it.each<readonly [string, readonly Listed[], boolean]>([
  ['of other queues', [foos, { ...foos, queues: theirs }], true],
  ['that names the cluster otherwise', [{ ...foos, cluster: 'b' }], true],
  ['of these queues alone', [foos, dinners, { plural: 'deployments', cluster: 'a', queues: ours }], false],
  ['of other queues that ended', [foos, { ...foos, queues: theirs, agoSeconds: 181 }], false],
])('a cluster with a watcher %s is watched by others accordingly', async (_, listed, byOthers) => {
  expect(await watchedWith(checkpointOf(listed))).toMatchObject({ byOthers });
});

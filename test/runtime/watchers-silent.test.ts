// Only whether a cluster's watchers count as silent, by what their cursor says; against an API server's wire.
import { expect, it } from 'vitest';
import { cursorName, systemNamespace } from '../../src/core/names.ts';
import { formatCursor } from '../../src/runtime/cursor-document.ts';
import { countSilence } from '../../src/runtime/watchers-silent.ts';
import { sendJson, startWireServer, statusOf } from '../kube/wire-server.ts';
import { createWitness } from '../support/recorder.ts';

const nowMs = Date.parse('2026-11-21T12:00:00Z');
const metadata = { name: cursorName, namespace: systemNamespace, resourceVersion: '7' };
/** How long ago the manifests were applied, for those who look at it. */
const holding = (cursor: string | undefined, ageSeconds = 86_400) => ({
  kind: 'ConfigMap',
  metadata: { ...metadata, creationTimestamp: new Date(nowMs - ageSeconds * 1000).toISOString() },
  ...(cursor === undefined ? {} : { data: { cursor } }),
});
const heardAt = (framesAtMs: number | undefined) => formatCursor({ cluster: 'uid', framesAtMs, entries: new Map() });

/** Asks a server that answers so for its cursor; returns what was counted and said. */
async function ask(status: number, body: object) {
  const server = await startWireServer((_, response) => sendJson(response, status, body));
  const { log, meter, counts, lines } = createWitness();
  const { signal } = new AbortController();
  await countSilence('alpha', server.client(), { log, meter, now: () => nowMs }, { signal });
  return { counts: Object.fromEntries(counts), lines, asked: server.arrived.map(({ path }) => path) };
}

it.each<[string, number, object, number]>([
  ['frames came a moment ago', 200, holding(heardAt(nowMs - 1_000)), 0],
  ['frames came two minutes ago, as they do on a quiet cluster', 200, holding(heardAt(nowMs - 130_000)), 0],
  ['the last frames came six minutes ago', 200, holding(heardAt(nowMs - 360_000)), 1],
  ['no frame ever came', 200, holding(heardAt(undefined)), 1],
  ['the cursor is as it was shipped yesterday', 200, holding(undefined), 1],
  ['the cursor is as it was shipped, and nobody says when', 200, { kind: 'ConfigMap', metadata }, 1],
  ['the cursor is not JSON', 200, holding('garbage'), 1],
  ['there is no cursor', 404, statusOf(404, 'NotFound'), 1],
  ['the cursor may not be read', 403, statusOf(403, 'Forbidden'), 1],
])('when %s it is counted so, with a reason for every silence', async (_, status, body, silent) => {
  const { counts, lines, asked } = await ask(status, body);
  expect(counts).toEqual({ WatchersSilent: silent });
  expect(lines.map(({ message }) => message)).toEqual(silent === 1 ? ['the watchers are silent'] : []);
  expect(asked).toEqual(['/api/v1/namespaces/outrigger-system/configmaps/outrigger-cursor']);
});

it('watchers that are only about to come wake nobody, and those that were forgotten do', async () => {
  const soon = await ask(200, holding(undefined, 1_800));
  expect(soon.counts).toEqual({ WatchersSilent: 0 });
  expect(soon.lines).toMatchObject([{ level: 'info', message: 'the watchers are silent' }]);
  const late = await ask(200, holding(undefined, 1_801));
  expect(late.counts).toEqual({ WatchersSilent: 1 });
  expect(late.lines).toMatchObject([{ level: 'warn' }]);
  expect((await ask(200, holding(heardAt(undefined), 60))).counts).toEqual({ WatchersSilent: 1 });
});

it('nothing is counted, and nothing fails, when the server has no answer', async () => {
  const { counts, lines } = await ask(500, statusOf(500, 'InternalError'));
  expect(counts).toEqual({});
  expect(lines).toMatchObject([{ level: 'warn', message: 'nobody can tell whether the watchers are silent' }]);
});

// What `kubectl get` prints of the samples (X23): a Table, as kubectl asks for it, of every kind of ours. That kubectl prints
// what is in a Table is test/cluster/kubectl-cases.ts.
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { crdsOnly, registry } from '../../src/controllers/registry.ts';
import { ownKinds } from '../../src/generate/rbac/rbac.ts';
import { collectionPath } from '../../src/kube/client/path.ts';
import { createWire } from '../conformance/wire.ts';
import { type Samples, startSamples } from './samples.ts';

const table = z.object({
  columnDefinitions: z.array(z.object({ name: z.string() })),
  rows: z.array(z.object({ cells: z.array(z.unknown()) })).min(1),
});

let samples: Samples;
beforeAll(async () => {
  samples = await startSamples();
}, 120_000);
afterAll(() => samples[Symbol.asyncDispose]());

it.each(
  ownKinds(registry, crdsOnly).map((kind) => ({ kind, of: kind.kind })),
)('X23: prints something in every column of a $of that has settled', async ({ kind }) => {
  const path = collectionPath(kind, samples.system.namespace);
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const answer = await createWire({ url: samples.url }).get(path, {}, accept);
  const { columnDefinitions, rows } = table.parse(answer.body);
  const names = columnDefinitions.map(({ name }) => name);
  expect(names.length).toBeGreaterThan(3);
  const empty = rows.flatMap(({ cells }) =>
    names.filter((_, index) => cells[index] === undefined || cells[index] === null || cells[index] === ''),
  );
  // Only a librarian writes the place of a book.
  expect(empty).toEqual(kind.kind === 'Book' ? ['Shelf'] : []);
});

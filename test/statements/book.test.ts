// What a definition gives by itself (BK1, BK2, BK6, BK7, BK9), as cases for any API server, over plain HTTP. No controller runs here; BK9 says
// that nothing else happens, so the server must run none of its own either. What it refuses (BK3 to BK5) is bad-input.test.ts,
// what every kind has (BK8, BK10, BK11) is test/conformance.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { Book } from '../../src/controllers/book.ts';
import { crdsOnly, registry } from '../../src/controllers/registry.ts';
import { crdOf } from '../../src/generate/crd/crd.ts';
import { ownKinds } from '../../src/generate/rbac/rbac.ts';
import { hasCondition } from '../conformance/body.ts';
import { createWire } from '../conformance/wire.ts';
import { useApiServer } from '../harness/api-server.ts';
import { install } from './harness.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const david = { title: 'David Copperfield', author: 'Dickens' };

const server = await useApiServer({ controllers: 'none' });
const connection = server.connect();
const wire = createWire(server);
let namespace = '';
beforeAll(() => install(connection));
beforeEach(async () => {
  const made = await wire.post('/api/v1/namespaces', { metadata: { generateName: 'library-' } });
  namespace = made.body.metadata?.name ?? '';
});

const books = (name?: string) =>
  [`/apis/library.example.com/v1/namespaces/${namespace}/books`, ...(name === undefined ? [] : [name])].join('/');
const book = (spec?: object, more: object = {}) => ({
  apiVersion: Book.apiVersion,
  kind: 'Book',
  metadata: { name: 'david-copperfield' },
  ...(spec === undefined ? {} : { spec }),
  ...more,
});
const create = async (spec?: object, query = {}) => await wire.post(books(), book(spec), query);
const read = async () => (await wire.get(books('david-copperfield'))).body;

describe('Book', () => {
  // That each of these holds for every definition is test/conformance.
  it('BK1, BK2, BK6, BK7: its definition is established; a book is read as it was written, and its status is apart from it', async () => {
    const { body: definition } = await wire.get(`${definitions}/books.library.example.com`);
    for (const type of ['NamesAccepted', 'Established']) expect(hasCondition(definition, type)).toBe(true);
    expect((await wire.get(books())).body).toMatchObject({ kind: 'BookList', items: [] });

    const made = await create(david);
    expect(made).toMatchObject({ status: 201, body: { metadata: { generation: 1 }, spec: david } });
    expect(await read()).toEqual(made.body);
    const both = { spec: { ...david, title: 'Bleak House' }, status: { shelf: 'D4', floor: 2 } };
    const status = await wire.put(`${books('david-copperfield')}/status`, { ...made.body, ...both });
    expect(status.body).toMatchObject({ spec: david, metadata: { generation: 1 } });
    expect(status.body.status).toEqual({ shelf: 'D4' });
    const main = await wire.put(books('david-copperfield'), { ...status.body, ...both, status: { shelf: 'Z9' } });
    expect(main.body).toMatchObject({ spec: both.spec, status: { shelf: 'D4' }, metadata: { generation: 2 } });
  });

  it.each(
    ownKinds(registry, crdsOnly).map((kind) => ({ kind })),
  )('BK7: the definition of $kind.kind lists every status field that may be written', ({ kind }) => {
    const [version] = crdShape.parse(crdOf(kind)).spec.versions;
    const listed = Object.keys(version?.schema.openAPIV3Schema.properties.status.properties ?? {});
    const written = [...Object.keys(kind.definition.status.shape), 'conditions', 'observedGeneration'];
    expect(listed.sort()).toEqual(written.sort());
  });

  it('BK9: a book makes no other object', async () => {
    const before = await contents();
    const { body } = await create(david);
    expect(await contents()).toEqual([...before, `Book ${body.metadata?.uid}`].sort());
  });
});

/** Everything in the namespace, of every kind that can be listed. */
async function contents(): Promise<readonly string[]> {
  const { groups } = groupsShape.parse((await wire.get('/apis')).body);
  const roots = ['/api/v1', ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)];
  const found = await Promise.all(
    roots.map(async (root) => {
      const { resources } = resourcesShape.parse((await wire.get(root)).body);
      const listable = resources.filter(({ namespaced, verbs }) => namespaced && verbs.includes('list'));
      return await Promise.all(
        listable.map(async ({ name, kind }) => {
          const { items = [] } = (await wire.get(`${root}/namespaces/${namespace}/${name}`)).body;
          return items.map(({ metadata }) => `${kind} ${metadata?.uid}`);
        }),
      );
    }),
  );
  return found.flat(2).sort();
}

const groupsShape = z.object({
  groups: z.array(z.object({ preferredVersion: z.object({ groupVersion: z.string() }) })),
});
const resourcesShape = z.object({
  resources: z.array(
    z.object({ name: z.string(), kind: z.string(), namespaced: z.boolean(), verbs: z.array(z.string()) }),
  ),
});
const properties = z.object({ status: z.object({ properties: z.record(z.string(), z.unknown()) }) });
const crdShape = z.object({
  spec: z.object({ versions: z.array(z.object({ schema: z.object({ openAPIV3Schema: z.object({ properties }) }) })) }),
});

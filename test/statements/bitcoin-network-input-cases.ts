// What BitcoinNetwork's schema refuses, and what the API server makes of what it does not know: the rows "Bad input", as cases for
// any API server. No controller runs here. Names of tests begin with the row's input. A pod without a real address is
// bitcoin-peers-cases.ts.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bitcoinNetworkKind as networks } from '../../src/controllers/bitcoin-network/kind.ts';
import { createClient, type KubeClient } from '../../src/kube/client.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { ApiError } from '../../src/kube/errors.ts';
import { type KubeObject, parseObject } from '../../src/kube/object.ts';
import { collectionPath } from '../../src/kube/path.ts';
import { install, startNamespace } from './harness.ts';
import { createUser, type User } from './user.ts';

const nodes = 3;
const rows: readonly { readonly what: string; readonly spec?: object | null; readonly field: string }[] = [
  { what: 'no spec', field: 'spec' },
  { what: 'spec null', spec: null, field: 'spec' },
  { what: 'nodes missing', spec: {}, field: 'spec.nodes' },
  { what: 'nodes "3"', spec: { nodes: '3' }, field: 'spec.nodes' },
  { what: 'nodes 1.5', spec: { nodes: 1.5 }, field: 'spec.nodes' },
  { what: 'nodes null', spec: { nodes: null }, field: 'spec.nodes' },
  { what: 'nodes -1', spec: { nodes: -1 }, field: 'spec.nodes' },
  { what: 'nodes 65', spec: { nodes: 65 }, field: 'spec.nodes' },
  { what: 'nodes 2147483648', spec: { nodes: 2_147_483_648 }, field: 'spec.nodes' },
  { what: 'secret 5', spec: { nodes, secret: 5 }, field: 'spec.secret' },
  { what: 'secret "Not A Name!"', spec: { nodes, secret: 'Not A Name!' }, field: 'spec.secret' },
  { what: 'secret "a..b"', spec: { nodes, secret: 'a..b' }, field: 'spec.secret' },
  { what: 'secret of 254 characters', spec: { nodes, secret: 'a'.repeat(254) }, field: 'spec.secret' },
];

/** Declares the cases. */
export function bitcoinNetworkInputCases(connect: () => Connection): void {
  let client: KubeClient;
  let user: User;
  const warnings: string[] = [];
  beforeAll(async () => {
    await install(connect());
    client = createClient(connect(), { onWarning: (text) => warnings.push(text) });
    user = createUser(client, await startNamespace(client));
  });
  afterAll(() => client.close());
  beforeEach(() => {
    warnings.length = 0;
  });

  async function create(name: string, content: object, query: Record<string, string> = {}): Promise<KubeObject> {
    const { apiVersion, kind } = networks;
    const path = collectionPath(networks, user.namespace);
    const body = { apiVersion, kind, metadata: { name }, ...content };
    return parseObject((await client.request({ method: 'POST', path, query, body })).body);
  }
  const refusal = async (creation: Promise<unknown>) => {
    const thrown: unknown = await creation.then(
      () => undefined,
      (error: unknown) => error,
    );
    if (!(thrown instanceof ApiError)) throw new Error(`not refused by the API server: ${thrown}`);
    const fields = thrown.body?.details?.causes?.map(({ field }) => field);
    return { status: thrown.status, fields, message: thrown.message };
  };

  describe('bad input of BitcoinNetwork', () => {
    it.each(rows)('$what: is 422 and names $field', async ({ spec, field }) => {
      const { status, fields } = await refusal(create('bad', spec === undefined ? {} : { spec }));
      expect(status).toBe(422);
      expect(fields).toContain(field);
    });

    it.each([
      ['nodes 0', { nodes: 0 }],
      ['nodes 64', { nodes: 64 }],
      ['secret ""', { nodes, secret: '' }],
      ['secret "a.b-c"', { nodes, secret: 'a.b-c' }],
    ])('%s: is accepted as it is', async (what, spec) => {
      expect((await create(what.replaceAll(/[^a-z0-9]+/g, '-').replace(/-$/, ''), { spec })).spec).toEqual(spec);
    });

    it.each([
      'a.b',
      '1a',
      'a'.repeat(49),
    ])('metadata.name %s: is 422, because nothing can be named after it, and the limit is told', async (name) => {
      const { status, message } = await refusal(create(name, { spec: { nodes } }));
      expect(status).toBe(422);
      expect(message).toContain('a name begins with a letter and has at most 48');
    });

    it('metadata.name of 48 characters: is accepted', async () => {
      expect((await create('a'.repeat(48), { spec: { nodes } })).metadata.name).toHaveLength(48);
    });

    it('unknown field spec.foo: is dropped with a warning, and is 400 when validation is strict', async () => {
      const spec = { nodes, foo: 'bar' };
      expect((await refusal(create('strict', { spec }, { fieldValidation: 'Strict' }))).status).toBe(400);
      expect((await create('lenient', { spec })).spec).toEqual({ nodes });
      expect(warnings.join()).toContain('unknown field "spec.foo"');
    });

    it('user writes status through main endpoint: is ignored', async () => {
      const status = { replicas: 9, nodes: [] };
      expect((await create('claimed', { spec: { nodes }, status })).status).toBeUndefined();
      expect((await user.patch(networks, 'claimed', { status })).status).toBeUndefined();
    });
  });
}

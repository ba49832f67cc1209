// What MemcachedProxy's schema refuses, and what it fills in: the rows "Bad input", as cases for any API server. No controller
// runs here. Names of tests begin with the row's input.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memcachedProxyKind as proxies } from '../../src/controllers/memcached-proxy/kind.ts';
import { createClient, type KubeClient } from '../../src/kube/client.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { ApiError } from '../../src/kube/errors.ts';
import { type KubeObject, parseObject } from '../../src/kube/object.ts';
import { collectionPath } from '../../src/kube/path.ts';
import { install, startNamespace } from './harness.ts';

const service = { name: 'm', port: 11_211 };
const rules = { service };
const port = (value: unknown) => ({ rules: { service: { name: 'm', port: value } } });
const named = (name: string) => ({ rules: { service: { name, port: 1 } } });
const mcrouter = (options: object) => ({ rules, mcrouter: options });
/** Rules over rules, so many levels deep. */
const deep = (levels: number): object => (levels === 1 ? rules : { children: [deep(levels - 1)] });

const rows: readonly { readonly what: string; readonly spec: object; readonly field: string }[] = [
  { what: 'rules missing', spec: {}, field: 'spec.rules' },
  { what: 'type "mirrored"', spec: { rules: { type: 'mirrored', service } }, field: 'spec.rules.type' },
  {
    what: 'type "mirrored", below',
    spec: { rules: { children: [{ type: 'mirrored', service }] } },
    field: 'spec.rules.children[0].type',
  },
  { what: 'service and children both', spec: { rules: { service, children: [rules] } }, field: 'spec.rules' },
  { what: 'service and children neither', spec: { rules: { type: 'sharded' } }, field: 'spec.rules' },
  {
    what: 'service and children neither, below',
    spec: { rules: { children: [{ children: [{}] }] } },
    field: 'spec.rules.children[0].children[0]',
  },
  { what: 'children []', spec: { rules: { children: [] } }, field: 'spec.rules.children' },
  { what: 'port 0', spec: port(0), field: 'spec.rules.service.port' },
  { what: 'port 70000', spec: port(70_000), field: 'spec.rules.service.port' },
  { what: 'port ""', spec: port(''), field: 'spec.rules.service.port' },
  { what: 'port "UPPER"', spec: port('UPPER'), field: 'spec.rules.service.port' },
  { what: 'port 1.5', spec: port(1.5), field: 'spec.rules.service.port' },
  { what: 'port true', spec: port(true), field: 'spec.rules.service.port' },
  { what: 'service.name ""', spec: named(''), field: 'spec.rules.service.name' },
  { what: 'service.name "UPPER"', spec: named('UPPER'), field: 'spec.rules.service.name' },
  { what: 'rules as a list', spec: { rules: [rules] }, field: 'spec.rules' },
  { what: 'mcrouter.port 0', spec: mcrouter({ port: 0 }), field: 'spec.mcrouter.port' },
  { what: 'mcrouter.port 70000', spec: mcrouter({ port: 70_000 }), field: 'spec.mcrouter.port' },
  { what: 'statsRoot "relative"', spec: mcrouter({ statsRoot: 'relative' }), field: 'spec.mcrouter.statsRoot' },
  { what: 'statsRoot with ".."', spec: mcrouter({ statsRoot: '/a/../etc' }), field: 'spec.mcrouter.statsRoot' },
];

/** Declares the cases. */
export function memcachedProxyInputCases(connect: () => Connection): void {
  let client: KubeClient;
  let namespace: string;
  beforeAll(async () => {
    await install(connect());
    client = createClient(connect());
    namespace = await startNamespace(client);
  });
  afterAll(() => client.close());

  async function create(name: string, spec: object): Promise<KubeObject> {
    const { apiVersion, kind } = proxies;
    const body = { apiVersion, kind, metadata: { name }, spec };
    return parseObject((await client.request({ method: 'POST', path: collectionPath(proxies, namespace), body })).body);
  }
  const refusal = async (creation: Promise<KubeObject>) => {
    const thrown: unknown = await creation.then(
      () => undefined,
      (error: unknown) => error,
    );
    if (!(thrown instanceof ApiError)) throw new Error(`not refused by the API server: ${thrown}`);
    const fields = thrown.body?.details?.causes?.map(({ field }) => field);
    return { status: thrown.status, fields, message: thrown.message };
  };

  describe('bad input of MemcachedProxy', () => {
    it.each(rows)('$what: is 422 and names $field', async ({ spec, field }) => {
      const { status, fields } = await refusal(create('bad', spec));
      expect(status).toBe(422);
      expect(fields).toContain(field);
    });

    it('tree deeper than supported: is 422 with the limit in the message, and four levels are not', async () => {
      const { status, message } = await refusal(create('deep', { rules: deep(5) }));
      expect(status).toBe(422);
      expect(message).toContain('at most 4 levels');
      await create('deep', { rules: deep(4) });
    });

    it.each([
      'a.b',
      '1a',
      'a'.repeat(48),
    ])('metadata.name %s: is 422, because a Service cannot be named after it', async (name) => {
      const { status, message } = await refusal(create(name, { rules }));
      expect(status).toBe(422);
      expect(message).toContain('a name begins with a letter and has at most 47');
    });

    it('metadata.name: 47 characters are not too many', async () => {
      expect((await create('a'.repeat(47), { rules })).metadata.name).toHaveLength(47);
    });

    it('M11: a type is filled in at every level, and so is how mcrouter runs', async () => {
      expect((await create('plain', { rules: { children: [{ children: [rules] }] } })).spec).toEqual({
        rules: { type: 'sharded', children: [{ type: 'sharded', children: [{ type: 'sharded', service }] }] },
        mcrouter: {
          image: 'ianmlewis/mcrouter:v0.36.0-2',
          port: 11_211,
          statsRoot: '/var/mcrouter/stats',
          securityContext: { runAsNonRoot: true, readOnlyRootFilesystem: true },
        },
      });
    });

    it('image "", securityContext privileged true: are accepted; who may run that is for PodSecurity to say', async () => {
      const asked = { image: '', securityContext: { privileged: true } };
      expect((await create('asked', mcrouter(asked))).spec).toMatchObject({ mcrouter: asked });
    });
  });
}

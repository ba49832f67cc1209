// Only what `generate` writes, against the real kube-apiserver: that it takes the files as they are, and that a drawn schema
// means there what it means to zod. Rights are in rights.test.ts; what the samples refuse is among the statements.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import * as z from 'zod';
import type { AnyResource } from '../../src/core/resource.ts';
import { defineResource } from '../../src/core/resource.ts';
import { withRule } from '../../src/core/rule.ts';
import { costHints } from '../../src/generate/cost-hints.ts';
import { crdOf } from '../../src/generate/crd.ts';
import { structuralSchema } from '../../src/generate/schema.ts';
import { createClient, type KubeClient } from '../../src/kube/client.ts';
import { ApiError, isNotFound, isThrottled } from '../../src/kube/errors.ts';
import { collectionPath } from '../../src/kube/path.ts';
import '../control-plane/global-setup.ts';
import { sayings } from '../generate/sayings.ts';
import { established } from '../support/established.ts';

const { url, ca, adminToken } = inject('controlPlane');
const group = 'sayings.example.net';
const noStatus = { status: z.object({}), conditions: [] } as const;
const kindOf = (kind: string, spec: z.ZodObject): AnyResource =>
  defineResource({ group, version: 'v1', kind, spec, ...noStatus });

/** One field for every saying. */
const saying = kindOf(
  'Saying',
  z.object(Object.fromEntries(sayings.map(({ schema }, n) => [`f${n}`, schema.optional()]))),
);
const strict = kindOf('Strict', z.object({ a: z.string() }));
let client: KubeClient;

beforeAll(async () => {
  client = createClient({ server: new URL(url), ca, token: async () => adminToken });
  for (const kind of [saying, strict]) {
    await define(kind);
    await established(client, `${kind.plural}.${group}`);
    await listed(kind);
  }
});
afterAll(() => client.close());

async function define(kind: AnyResource, query: Record<string, string> = {}): Promise<void> {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  await client.request({ method: 'POST', path, body: crdOf(kind), query });
}

/** For a moment a new kind is not served (404), then its cache is being filled (429); nothing can be watched for that. */
async function listed(kind: AnyResource): Promise<void> {
  for (const giveUpAt = Date.now() + 15_000; ; ) {
    try {
      await client.request({ method: 'GET', path: collectionPath(kind, 'default') });
      return;
    } catch (error) {
      if (!(isThrottled(error) || isNotFound(error)) || Date.now() > giveUpAt) throw error;
    }
  }
}

/** Asks the API server for a verdict, without keeping the object. Returns its spec, or what it has against it. */
async function judge(kind: AnyResource, spec: unknown): Promise<unknown> {
  const { apiVersion, kind: named } = kind;
  const body = { apiVersion, kind: named, metadata: { name: 'judged' }, ...(spec === undefined ? {} : { spec }) };
  const path = collectionPath(kind, 'default');
  try {
    const answer = await client.request({ method: 'POST', path, body, query: { dryRun: 'All' } });
    return z.object({ spec: z.unknown() }).parse(answer.body).spec;
  } catch (error) {
    if (error instanceof ApiError && error.status === 422) return new Error(error.message);
    throw error;
  }
}

describe('a drawn schema', () => {
  it.each(
    sayings.map((row, n) => ({ ...row, field: `f${n}` })),
  )('of $what is to the API server what it is to zod', async ({ schema, field, takes, refuses }) => {
    for (const value of takes) {
      const parsed = schema.safeParse(value);
      expect(parsed, `zod: ${JSON.stringify(value)}`).toMatchObject({ success: true });
      expect(await judge(saying, { [field]: value }), JSON.stringify(value)).toEqual({ [field]: parsed.data });
    }
    for (const value of refuses) {
      expect(schema.safeParse(value).success, `zod: ${JSON.stringify(value)}`).toBe(false);
      expect(await judge(saying, { [field]: value }), JSON.stringify(value)).toBeInstanceOf(Error);
    }
  });

  it('that requires something makes spec required', async () => {
    expect(String(await judge(strict, undefined))).toContain('spec: Required value');
  });

  it('that requires nothing makes of no spec an empty one, for its defaults', async () => {
    expect(await judge(saying, undefined)).toEqual({});
  });
});

describe('a rule that might cost too much', () => {
  const costly = (lines: z.ZodArray<z.ZodObject>) => z.object({ lines });
  const line = withRule(
    z.object({ text: z.string() }),
    { rule: "self.text.contains('a')", message: 'has an a' },
    ({ text }) => text.includes('a'),
  );

  it('is refused by the API server, and the hints name what to bound', async () => {
    const spec = costly(z.array(line));
    await expect(define(kindOf('Costly', spec), { dryRun: 'All' })).rejects.toThrow('cost');
    expect(costHints(structuralSchema(spec, 'spec'), 'spec').join()).toMatch(/spec\.lines: .*spec\.lines\[\]\.text: /);
  });

  it('is taken once that is bounded, and there is no hint any more', async () => {
    const bounded = withRule(
      z.object({ text: z.string().max(100) }),
      { rule: "self.text.contains('a')", message: 'has an a' },
      ({ text }) => text.includes('a'),
    );
    const spec = costly(z.array(bounded).max(50));
    await define(kindOf('Cheap', spec), { dryRun: 'All' });
    expect(costHints(structuralSchema(spec, 'spec'), 'spec')).toEqual([]);
  });
});

// What `generate` draws, as cases for any API server: it takes the CRDs as they are, and a drawn schema means there what it
// means to zod.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type AnyResource, defineResource } from '../../src/core/resource.ts';
import { crdOf } from '../../src/generate/crd/crd.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { ApiError, isNotFound, isThrottled } from '../../src/kube/client/errors.ts';
import { collectionPath } from '../../src/kube/client/path.ts';
import { established } from '../support/established.ts';
import { sayings } from './sayings.ts';

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

/** Declares the cases. */
export function generatedCases(connect: () => Connection): void {
  let client: KubeClient;

  beforeAll(async () => {
    client = createClient(connect());
    for (const kind of [saying, strict]) {
      await define(kind);
      await established(client, `${kind.plural}.${group}`);
      await listed(kind);
    }
  });
  afterAll(() => client.close());

  async function define(kind: AnyResource): Promise<void> {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await client.request({ method: 'POST', path, body: crdOf(kind) });
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
}

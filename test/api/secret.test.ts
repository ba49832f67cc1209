// A setting that is a secret, from its variable to what a controller's clients get. Excluded: where secrets are read
// (test/clusters/auth/secret-reader.test.ts) and a whole function (test/lambda/secret-settings.test.ts).
import { expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import { isSecret, type Secret, type SecretReference, secret } from '../../src/api/secret.ts';

const kind = defineKind({
  group: 'secret.example.com',
  version: 'v1',
  kind: 'Thing',
  spec: z.object({}),
  status: z.object({}),
  conditions: ['Done'],
});

function createWorld(setting = secret()) {
  const made: { token?: Secret | undefined } = {};
  const controller = kind.controller('thing', {
    settings: z.object({ TOKEN: setting.optional() }),
    clients: ({ TOKEN }) => {
      made.token = TOKEN;
      return {};
    },
    reconcile: async () => ({ status: {}, conditions: { Done: { status: 'True', reason: 'Done' } } }),
  });
  const asked: (SecretReference & { readonly where: string })[] = [];
  const forgotten: SecretReference[] = [];
  const reader = {
    read: async (reference: SecretReference, where: string) => {
      asked.push({ ...reference, where });
      return 'the secret';
    },
    forget: (reference: SecretReference) => void forgotten.push(reference),
  };
  return { controller, made, asked, forgotten, reader };
}

it('a setting that is a secret is read where its variable says, when it is needed and not before, and is forgotten when it was refused', async () => {
  const { controller, made, asked, forgotten, reader } = createWorld(secret({ maxAgeSeconds: 60 }));
  controller.start({ TOKEN: 'outrigger/dev/settings/plant' }, reader);
  expect(asked).toEqual([]);
  expect(await made.token?.read()).toBe('the secret');
  expect(asked).toEqual([
    { secret: 'outrigger/dev/settings/plant', maxAgeSeconds: 60, where: 'controller thing (TOKEN)' },
  ]);
  expect(forgotten).toEqual([]);
  made.token?.invalidate();
  expect(forgotten).toMatchObject([{ secret: 'outrigger/dev/settings/plant' }]);
});

it('a setting that is a secret names the key in a secret that is an object', async () => {
  const { controller, made, asked, reader } = createWorld();
  const arn = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:outrigger/dev/settings/plant-AbCdEf';
  controller.start({ TOKEN: `${arn}#token` }, reader);
  await made.token?.read();
  expect(asked).toMatchObject([{ secret: arn, key: 'token', maxAgeSeconds: 300 }]);
});

it('a setting that is a secret may be left out where it is optional, and is asked for by name where it is not', () => {
  const { controller, made, reader } = createWorld();
  controller.start({ TOKEN: '' }, reader);
  expect(made.token).toBeUndefined();
  const strict = kind.controller('strict', {
    settings: z.object({ TOKEN: secret() }),
    reconcile: async () => ({ status: {}, conditions: { Done: { status: 'True', reason: 'Done' } } }),
  });
  expect(() => strict.start({}, reader)).toThrow('TOKEN');
});

it('read() fails with a clear error if no secret reader exists', async () => {
  const { controller, made } = createWorld();
  controller.start({ TOKEN: 'plant' });
  await expect(made.token?.read()).rejects.toThrow('secret "plant" was read where nothing gives out secrets');
  made.token?.invalidate();
});

it.each<[string, z.ZodType, boolean]>([
  ['a secret', secret(), true],
  ['an optional secret', secret().optional(), true],
  ['a secret with a description and a default', secret().describe('a token').nullish().prefault('a'), true],
  ['a text', z.string(), false],
  ['a list in JSON', z.string().transform((text): unknown => JSON.parse(text)), false],
  ['a text with a refinement that waits', z.string().refine(async () => true), false],
  ['an address', z.url(), false],
  ['a number', z.coerce.number(), false],
])('a secret setting is recognized: %s', (_, schema, expected) => {
  expect(isSecret(schema)).toBe(expected);
});

it('the path of a secret’s file may have a #, which is no key of it', async () => {
  const { controller, made, asked, reader } = createWorld();
  controller.start({ TOKEN: 'file:/a #b/token' }, reader);
  await made.token?.read();
  expect(asked).toMatchObject([{ secret: 'file:/a #b/token' }]);
  expect(asked[0]?.key).toBeUndefined();
});

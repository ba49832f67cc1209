// Conformance: the limits of size: of a request, of what etcd stores, and of the data of ConfigMaps and Secrets.
import { expect, it } from 'vitest';
import { gadget, gadgets } from './gadget.ts';
import { useSuite } from './suite.ts';

const tooLargeToSend =
  /^rpc error: code = ResourceExhausted desc = trying to send message larger than max \(\d+ vs\. 2097152\)$/;

const { wire, namespace } = await useSuite();

const sized = (name: string, bytes: number) => gadget(name, { size: 1, free: { text: 'x'.repeat(bytes) } });

it.each([
  { bytes: 1_500_000, code: 201 },
  { bytes: 1_600_000, code: 500, message: /^etcdserver: request is too large$/ },
  { bytes: 2_200_000, code: 500, message: tooLargeToSend },
  { bytes: 3_145_729, code: 413, message: /^Request entity too large: limit is 3145728$/ },
])('an object with $bytes bytes is answered with $code', async ({ bytes, code, message }) => {
  const ns = await namespace();
  const { status, body } = await wire.post(gadgets(ns), sized('one', bytes));
  expect(status).toBe(code);
  expect((await wire.get(gadgets(ns, 'one'))).status).toBe(code === 201 ? 200 : 404);
  if (message === undefined) return;
  expect(body).toMatchObject({ kind: 'Status', status: 'Failure', code });
  expect(body.reason).toBe(code === 413 ? 'RequestEntityTooLarge' : undefined);
  expect(body.message).toMatch(message);
});

it('an object that grows over the limit of etcd by small patches stays as it was', async () => {
  const ns = await namespace();
  await wire.post(gadgets(ns), sized('one', 1_000_000));
  const grown = await wire.mergePatch(gadgets(ns, 'one'), { spec: { free: { more: 'y'.repeat(600_000) } } });
  expect(grown.body).toMatchObject({ code: 500, message: 'etcdserver: request is too large' });
  expect((await wire.get(gadgets(ns, 'one'))).body.metadata?.generation).toBe(1);
});

it('an object that is too large only with its managed fields loses them, unless it is applied', async () => {
  const ns = await namespace();
  // The managed fields repeat the name of each field.
  const names = Array.from({ length: 1_200 }, (_, index) => `${index}-${'x'.repeat(750)}`);
  const large = gadget('one', { size: 1, free: Object.fromEntries(names.map((name) => [name, 1])) });
  const applied = await wire.apply(gadgets(ns, 'one'), 'tester', large);
  expect(applied.body).toMatchObject({ code: 500, message: 'etcdserver: request is too large' });
  const made = await wire.post(gadgets(ns), large);
  expect(made.status).toBe(201);
  expect(made.body.metadata?.managedFields).toBeUndefined();
});

it.each([
  { kind: 'ConfigMap', plural: 'configmaps', field: '[]', value: 'x'.repeat(1_048_577) },
  { kind: 'Secret', plural: 'secrets', field: 'data', value: Buffer.alloc(1_048_577).toString('base64') },
])('a $kind with more than 1 MiB of data is Invalid', async ({ kind, plural, field, value }) => {
  const ns = await namespace();
  const { body } = await wire.post(`/api/v1/namespaces/${ns}/${plural}`, {
    metadata: { name: 'one' },
    data: { a: value },
  });
  expect(body).toMatchObject({
    code: 422,
    message: `${kind} "one" is invalid: ${field}: Too long: may not be more than 1048576 bytes`,
    details: { causes: [{ reason: 'FieldValueTooLong', field }] },
  });
});

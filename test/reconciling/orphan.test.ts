// What a dead letter holds of an object that was not finalized: everything that an operator needs, and never the data of
// a Secret.
import { expect, it } from 'vitest';
import { formatOrphan } from '../../src/reconciling/pass/finalize-lost.ts';

const names = { version: 'v1', namespaced: true };
const widgets = { group: 'example.com', plural: 'widgets', ...names };
const secrets = { group: '', plural: 'secrets', ...names };
const metadata = { name: 'one', namespace: 'default', uid: 'u-1', labels: { app: 'a' } };
const lastApplied = { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"password":"cGxhbnRlZA=="}}' };

it('an orphan keeps spec, status, labels and annotations, without managed fields and kubectl’s copy', () => {
  const annotations = { ...lastApplied, note: 'kept' };
  const object = { kind: 'Widget', spec: { url: 'https://user:pass@host', size: 1 }, status: { id: 'lb-7' } };
  const read = { ...object, metadata: { ...metadata, annotations, managedFields: [{ manager: 'kubectl' }] } };
  expect(JSON.parse(formatOrphan(widgets, read))).toEqual({
    ...object,
    metadata: { ...metadata, annotations: { note: 'kept' } },
  });
});

// Control T75.
it('an orphan that is a Secret has no data', () => {
  const data = { password: 'cGxhbnRlZA==' };
  const text = formatOrphan(secrets, {
    kind: 'Secret',
    type: 'Opaque',
    metadata: { ...metadata, annotations: lastApplied },
    data,
    stringData: { password: 'planted' },
  });
  expect(JSON.parse(text)).toEqual({ kind: 'Secret', type: 'Opaque', metadata });
});

it.each([
  ['its status', { spec: { size: 1 }, status: { text: 'x'.repeat(300_000) } }, { spec: { size: 1 }, metadata }],
  ['its spec', { spec: { text: 'ü'.repeat(150_000) }, status: { id: 'lb-7' } }, { metadata }],
])('an orphan that is too large for a message leaves out %s', (_, object, expected) => {
  const text = formatOrphan(widgets, { metadata, ...object });
  expect(JSON.parse(text)).toEqual(expected);
  expect(Buffer.byteLength(text)).toBeLessThan(200 * 1024);
});

it('an orphan has no character that SQS rejects', () => {
  const note = '\u0000\u001b\uFFFE\uFFFF';
  const text = formatOrphan(widgets, { metadata, spec: { note } });
  expect(text).toMatch(/^[\u0020-\uFFFD]*$/);
  expect(JSON.parse(text)).toMatchObject({ spec: { note } });
});

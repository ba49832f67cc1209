// The metadata that the watcher keeps of an object.
import { expect, it } from 'vitest';
import { ResponseError } from '../../../src/kube/client/errors.ts';
import { parsePartialMetadata } from '../../../src/kube/watch/partial-metadata.ts';

const owner = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u', blockOwnerDeletion: true };
const object = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'a',
    namespace: 'shop',
    uid: 'uid-a',
    resourceVersion: '7',
    generation: 3,
    deletionTimestamp: '2026-01-01T00:00:00Z',
    labels: { app: 'x', other: 'y' },
    annotations: { wanted: 'w', 'kubectl.kubernetes.io/last-applied-configuration': 'secret' },
    ownerReferences: [{ ...owner, controller: true }, owner],
    managedFields: [{ manager: 'kubectl', fieldsV1: { 'f:data': {} } }],
  },
  spec: { secret: true },
};

it('parsePartialMetadata keeps identity, versions, deletion and owners, and drops everything else', () => {
  const { blockOwnerDeletion: _, ...reference } = owner;
  expect(parsePartialMetadata(object)).toEqual({
    uid: 'uid-a',
    resourceVersion: '7',
    generation: 3,
    deleting: true,
    namespace: 'shop',
    name: 'a',
    owners: [
      { ...reference, controller: true },
      { ...reference, controller: false },
    ],
  });
});

it('parsePartialMetadata keeps the selected labels and annotations that exist', () => {
  const desired = { labels: ['app', 'missing', 'constructor'], annotations: ['wanted'] };
  expect(parsePartialMetadata(object, desired)).toMatchObject({ labels: { app: 'x' }, annotations: { wanted: 'w' } });
  expect(parsePartialMetadata(object, { labels: 'all' }).labels).toEqual({ app: 'x', other: 'y' });
  expect(parsePartialMetadata(object, { labels: ['missing'] })).not.toHaveProperty('labels');
});

it('parsePartialMetadata omits the generation of a kind without one', () => {
  const { generation: _, ...metadata } = object.metadata;
  expect(parsePartialMetadata({ metadata })).not.toHaveProperty('generation');
});

it.each([
  'uid',
  'name',
  'resourceVersion',
])('parsePartialMetadata throws a ResponseError that names a missing %s', (field) => {
  const metadata = { ...object.metadata, [field]: undefined };
  expect(() => parsePartialMetadata({ metadata })).toThrow(ResponseError);
  expect(() => parsePartialMetadata({ metadata })).toThrow(field);
});

it.each([undefined, null, 'x', [], {}, { metadata: [] }])('parsePartialMetadata rejects %j', (value) => {
  expect(() => parsePartialMetadata(value)).toThrow('metadata');
});

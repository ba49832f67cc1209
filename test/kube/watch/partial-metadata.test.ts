// What of an object the watcher ever gets to see.
import { describe, expect, it } from 'vitest';
import { AnswerError } from '../../../src/kube/client/errors.ts';
import { parseHead } from '../../../src/kube/watch/partial-metadata.ts';

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

describe('parseHead', () => {
  it('keeps identity, versions, deletion and owners, and lets everything else go', () => {
    const { blockOwnerDeletion: _, ...reference } = owner;
    expect(parseHead(object)).toEqual({
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

  it('keeps the labels and annotations that are asked for and are there', () => {
    const wanted = { labels: ['app', 'missing', 'constructor'], annotations: ['wanted'] };
    expect(parseHead(object, wanted)).toMatchObject({ labels: { app: 'x' }, annotations: { wanted: 'w' } });
    expect(parseHead(object, { labels: 'all' }).labels).toEqual({ app: 'x', other: 'y' });
    expect(parseHead(object, { labels: ['missing'] })).not.toHaveProperty('labels');
  });

  it('a kind without a generation has none', () => {
    const { generation: _, ...metadata } = object.metadata;
    expect(parseHead({ metadata })).not.toHaveProperty('generation');
  });

  it.each(['uid', 'name', 'resourceVersion'])('an object without %s is an error that names it', (field) => {
    const metadata = { ...object.metadata, [field]: undefined };
    expect(() => parseHead({ metadata })).toThrow(AnswerError);
    expect(() => parseHead({ metadata })).toThrow(field);
  });

  it.each([undefined, null, 'x', [], {}, { metadata: [] }])('%j is no object', (value) => {
    expect(() => parseHead(value)).toThrow('metadata');
  });
});

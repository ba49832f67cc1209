// This version reads the messages, objects and watch checkpoints of former versions, and a former version reads those
// of this one: functions and watchers of both versions run during a deployment. A file written-by-VERSION.json is never
// edited. A release with a new format adds a file.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { entryNameOf, parseCheckpoint } from '../../src/checkpoint/document.ts';
import { parseEntry } from '../../src/clusters/registry/entry.ts';
import { waterTank } from '../../src/controllers/water-tank.ts';
import {
  checkpointName,
  controllerIdentity,
  controllerLabel,
  controllerRole,
  fieldManagerOf,
  finalizerOf,
  heldLabelOf,
  observedAnnotationOf,
  ownerAnnotation,
  ownerUidLabel,
  pausedAnnotation,
  reconcileRequestedAnnotation,
  systemNamespace,
} from '../../src/core/names.ts';
import { labelSelectorOf } from '../../src/core/selector.ts';
import { parseWatchList } from '../../src/core/watch-list.ts';
import { rbacOf } from '../../src/generate/rbac/rbac.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import { observationOf } from '../../src/kube/apply/observation.ts';
import { parseObject } from '../../src/kube/client/object.ts';
import { Deployment } from '../../src/kubernetes.ts';
import { formatResyncMessage, parseResyncMessage } from '../../src/resync/message.ts';
import { readDeadLetter } from '../../src/sqs/dead-letter.ts';
import { groupIdOf } from '../../src/sqs/deduplication.ts';
import { formatMessage, keyOfMessage, parseMessage } from '../../src/sqs/message.ts';

const samples = z.object({
  messages: z.array(z.object({ body: z.string(), groupId: z.string() })),
  resyncs: z.array(z.string()),
  checkpoint: z.object({ text: z.string(), entryOf: z.unknown(), queues: z.string() }),
  deadLetter: z.object({ body: z.string(), attributes: z.record(z.string(), z.string()) }),
  entries: z.array(z.unknown()),
  onObjects: z.record(z.string(), z.string()),
  observation: z.object({ object: z.unknown(), digest: z.string() }),
  immutable: z.record(z.string(), z.string()),
});
const versions = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.json'))
  .map((file) => ({
    version: file,
    ...samples.parse(JSON.parse(readFileSync(path.join(import.meta.dirname, file), 'utf8'))),
  }));
const binding = z.object({
  kind: z.string(),
  metadata: z.object({ name: z.string(), namespace: z.string().optional() }),
  roleRef: z.object({ kind: z.string(), name: z.string() }),
});
const withFields = (body: string, fields: object) => JSON.stringify({ ...JSON.parse(body), ...fields });
const laterField = { hint: { of: ['a', 'later', 'version'] } };

it('the samples of at least one version are kept', () => {
  expect(versions).not.toEqual([]);
});

describe.each(versions)('$version', ({
  messages,
  resyncs,
  deadLetter,
  entries,
  checkpoint,
  onObjects,
  observation,
  immutable,
}) => {
  it('messages of a former version are read, and are unchanged when they are forwarded', () => {
    for (const { body } of messages) expect(JSON.parse(formatMessage(parseMessage(body)))).toEqual(JSON.parse(body));
  });

  it('resync messages of a former version are read, and are unchanged when they are forwarded', () => {
    for (const body of resyncs)
      expect(JSON.parse(formatResyncMessage(parseResyncMessage(body)))).toEqual(JSON.parse(body));
  });

  it('a dead letter of a former version is read with each of its attributes', () => {
    const { body, attributes } = deadLetter;
    const { reason, messageId, firstSeenAt, attempts, error, object } = readDeadLetter({
      messageId: 'd',
      receiptHandle: 'd',
      sentAt: undefined,
      body,
      attributes,
    });
    const read = { reason, messageId, firstSeenAt: firstSeenAt?.toISOString(), attempts: String(attempts), error };
    expect({ ...read, object: JSON.stringify(object) }).toEqual(attributes);
  });

  it('entries of the clusters table of a former version are valid, with each of their fields', () => {
    for (const entry of entries) expect(parseEntry('prod-1', entry)).toEqual(entry);
  });

  it('only the new field of a message of a later version is dropped', () => {
    for (const { body } of messages) expect(parseMessage(withFields(body, laterField))).toEqual(parseMessage(body));
    for (const { body } of messages)
      expect(parseMessage(withFields(body, { cause: { ...JSON.parse(body).cause, ...laterField } }))).toEqual(
        parseMessage(body),
      );
    for (const body of resyncs)
      expect(parseResyncMessage(withFields(body, laterField))).toEqual(parseResyncMessage(body));
  });

  it('a message with another v or an unknown cause is rejected', () => {
    for (const { body } of messages) {
      expect(() => parseMessage(withFields(body, { v: 2 }))).toThrow('v:');
      expect(() => parseMessage(withFields(body, { cause: { type: 'guess' } }))).toThrow('cause.type:');
    }
    for (const body of resyncs) expect(() => parseResyncMessage(withFields(body, { v: 2 }))).toThrow('v:');
  });

  it('unknown merged causes are dropped, and the message stays valid', () => {
    for (const { body } of messages) {
      const merged = { count: 1, causes: [{ type: 'guess' }] };
      expect(parseMessage(withFields(body, { merged }))).toEqual(parseMessage(withFields(body, { merged: undefined })));
    }
  });

  it('the group id of an object is that of the former version, so that it is not reconciled in parallel', () => {
    for (const { body, groupId } of messages) expect(groupIdOf(keyOfMessage(parseMessage(body)))).toBe(groupId);
  });

  it('the watch checkpoint of a former version is continued, not restarted', () => {
    const reading = parseCheckpoint(checkpoint.text);
    const [watched] = parseWatchList({ version: 1, resources: [checkpoint.entryOf] }).resources;
    if (reading.type !== 'read' || watched === undefined)
      return expect.unreachable('the watch checkpoint was not read');
    const name = entryNameOf(watched, { queues: checkpoint.queues });
    expect(reading.document.entries.get(name)?.version).toBe('4711');
  });

  it('a new field of a later version in the watch checkpoint is ignored', () => {
    const collections = Object.entries(JSON.parse(checkpoint.text).collections).map(([name, entry]) => [
      name,
      { ...Object(entry), ...laterField },
    ]);
    expect(
      parseCheckpoint(withFields(checkpoint.text, { ...laterField, collections: Object.fromEntries(collections) })),
    ).toEqual(parseCheckpoint(checkpoint.text));
  });

  it('the finalizer, field manager, labels, annotations, user and role are those of the former version', () => {
    expect({
      finalizer: finalizerOf('water-tank'),
      manager: fieldManagerOf('water-tank'),
      controllerLabel,
      ownerUidLabel,
      ownerAnnotation,
      paused: pausedAnnotation,
      requested: reconcileRequestedAnnotation,
      checkpoint: `${systemNamespace}/${checkpointName}`,
      held: heldLabelOf('water-tank'),
      observed: observedAnnotationOf('water-tank'),
      identity: controllerIdentity('water-tank'),
      role: controllerRole('water-tank'),
    }).toEqual(onObjects);
  });

  it('the evidence on an object is that of the former version, so that no object counts as missed after an upgrade', () => {
    const object = parseObject(observation.object);
    const controller = Deployment.controller('water-tank', { evidence: 'annotation', reconcile: async () => ({}) });
    expect(observationOf(controller)?.of(object)).toBe(observation.digest);
  });

  it('what the API server does not let change in an applied manifest is that of the former version', async () => {
    const registry = [waterTank];
    const roleRefs = rbacOf(registry, watchListOf(registry)).flatMap((one) => {
      const { kind, metadata, roleRef } = binding.safeParse(one).data ?? {};
      if (metadata === undefined || roleRef === undefined) return [];
      const name = [metadata.namespace, metadata.name].filter((part) => part !== undefined).join('/');
      return [[`${kind} ${name}`, `${roleRef.kind} ${roleRef.name}`] as const];
    });
    const file = path.resolve(import.meta.dirname, '../../infra/kubernetes/watcher/deployment.yaml');
    const { matchLabels } = parse(readFileSync(file, 'utf8')).spec.selector;
    expect({ 'watcher selector': labelSelectorOf({ matchLabels }), ...Object.fromEntries(roleRefs) }).toEqual(
      immutable,
    );
  });
});

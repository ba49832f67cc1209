// What former versions have left on queues, on objects and in the cursor, read by this one; and what this one writes, as a former one
// reads it: while a deployment goes on, functions and watchers of both are at work. A file written-by-VERSION.json is never
// edited; a release that writes something new adds a file.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { parseWatchList } from '../../src/core/watch-list.ts';
import {
  controllerLabel,
  cursorName,
  fieldManagerOf,
  finalizerOf,
  ownerAnnotation,
  ownerUidLabel,
  pausedAnnotation,
  reconcileRequestedAnnotation,
  systemNamespace,
} from '../../src/core/names.ts';
import { groupIdOf } from '../../src/queue/group-id.ts';
import { formatMessage, parseMessage, targetOf } from '../../src/queue/message.ts';
import { formatResyncMessage, parseResyncMessage } from '../../src/queue/resync-message.ts';
import { parseCursor } from '../../src/runtime/cursor-document.ts';
import { entryNameOf } from '../../src/watcher/entry-name.ts';

const kept = z.object({
  messages: z.array(z.object({ body: z.string(), groupId: z.string() })),
  polls: z.array(z.string()),
  cursor: z.object({ text: z.string(), entryOf: z.unknown(), queues: z.string() }),
  onObjects: z.record(z.string(), z.string()),
});
const versions = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.json'))
  .map((file) => ({
    version: file,
    ...kept.parse(JSON.parse(readFileSync(path.join(import.meta.dirname, file), 'utf8'))),
  }));
const more = (body: string, fields: object) => JSON.stringify({ ...JSON.parse(body), ...fields });
const toCome = { hint: { of: ['a', 'version', 'to', 'come'] } };

it('at least one version is kept', () => {
  expect(versions).not.toEqual([]);
});

describe.each(versions)('$version', ({ messages, polls, cursor, onObjects }) => {
  it('its messages are understood, and lose nothing when they are sent on', () => {
    for (const { body } of messages) expect(JSON.parse(formatMessage(parseMessage(body)))).toEqual(JSON.parse(body));
  });

  it('its polls are understood, and lose nothing when they are sent on', () => {
    for (const body of polls)
      expect(JSON.parse(formatResyncMessage(parseResyncMessage(body)))).toEqual(JSON.parse(body));
  });

  it('a field that a later version adds to them is dropped, and nothing else', () => {
    for (const { body } of messages) expect(parseMessage(more(body, toCome))).toEqual(parseMessage(body));
    for (const body of polls) expect(parseResyncMessage(more(body, toCome))).toEqual(parseResyncMessage(body));
  });

  it('what is no longer a message of that form has another v, and is refused by it', () => {
    for (const { body } of messages) expect(() => parseMessage(more(body, { v: 2 }))).toThrow('v:');
    for (const body of polls) expect(() => parseResyncMessage(more(body, { v: 2 }))).toThrow('v:');
  });

  it('an object’s messages are in the group that they were in: two groups of one object would be reconciled side by side', () => {
    for (const { body, groupId } of messages) expect(groupIdOf(targetOf(parseMessage(body)))).toBe(groupId);
  });

  it('its cursor is gone on from, and not begun anew', () => {
    const reading = parseCursor(cursor.text);
    const [watched] = parseWatchList({ version: 1, resources: [cursor.entryOf] }).resources;
    if (reading.type !== 'read' || watched === undefined) return expect.unreachable('the cursor was not read');
    const name = entryNameOf(watched, { queues: cursor.queues });
    expect(reading.document.entries.get(name)?.version).toBe('4711');
  });

  it('a field that a later version adds to the cursor does no harm', () => {
    const entries = Object.entries(JSON.parse(cursor.text).entries).map(([name, entry]) => [
      name,
      { ...Object(entry), ...toCome },
    ]);
    expect(parseCursor(more(cursor.text, { ...toCome, entries: Object.fromEntries(entries) }))).toEqual(
      parseCursor(cursor.text),
    );
  });

  it('what it put on objects is known as ours', () => {
    expect({
      finalizer: finalizerOf('water-tank'),
      manager: fieldManagerOf('water-tank'),
      controllerLabel,
      ownerUidLabel,
      ownerAnnotation,
      paused: pausedAnnotation,
      requested: reconcileRequestedAnnotation,
      cursor: `${systemNamespace}/${cursorName}`,
    }).toEqual(onObjects);
  });
});

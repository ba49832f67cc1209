// Only the audit of a stage's console: what its file has, what is read from it, and that an action without its first
// line is not carried out.
// The whole command is test/deploy/console.test.ts.
import { appendFile, mkdir, rm, stat, symlink } from 'node:fs/promises';
import { auditFileName, readAudit, withAudit } from '@outrigger/cli/commands/console/audit';
import type { ConsoleSource } from '@outrigger/cli/console/source';
import { beforeEach, expect, it } from 'vitest';
import { useFolder } from '../../support/folder.ts';

const folder = useFolder();
let done: string[];
beforeEach(() => {
  done = [];
});

const { signal } = new AbortController();
const at = '2026-01-01T00:00:00.000Z';
const who = 'arn:aws:iam::111122223333:user/ada';
const succeed: ConsoleSource['act'] = async ({ type }) => {
  done.push(type);
  return { text: 'Sent.' };
};
const audited = (act: ConsoleSource['act'], of = folder.path) =>
  withAudit(act, { folder: of, stage: 'prod', who, now: () => new Date(at), print: (line) => void done.push(line) });
const file = () => folder.at(auditFileName);
const lines = async () =>
  (await folder.read(auditFileName))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
const common = { timestamp: at, message: 'console action', stage: 'prod', who };

// Control T136.
it('an action has a line before it and a line after it, of its owner only', async () => {
  await audited(succeed)({ type: 'pause', id: 'lab:foos/default/a' }, signal);
  const action = { ...common, action: 'pause', id: 'lab:foos/default/a' };
  expect(await lines()).toEqual([
    { ...action, state: 'started' },
    { ...action, state: 'done', result: 'Sent.' },
  ]);
  expect(done).toEqual([JSON.stringify({ ...action, state: 'started' }), 'pause', expect.stringContaining('"done"')]);
  expect((await stat(file())).mode & 0o777).toBe(0o600);
});

// Control T138.
it('an action that fails has a line with its error, without credentials', async () => {
  const fail = async () => await Promise.reject(new Error('no queue at https://user:secret@sqs.test'));
  await expect(audited(fail)({ type: 'redrive', queue: 'foo-dlq.fifo' }, signal)).rejects.toThrow('no queue');
  expect(await lines()).toMatchObject([
    { action: 'redrive', queue: 'foo-dlq.fifo', state: 'started' },
    { state: 'failed', error: expect.not.stringContaining('secret') },
  ]);
});

// Control T137.
it('an action whose first line cannot be written is not carried out', async () => {
  await folder.write('a-file', '');
  const act = audited(succeed, folder.at('a-file'))({ type: 'delete', queue: 'foo-dlq.fifo' }, signal);
  await expect(act).rejects.toThrow(/^nothing was done: .*audit\.jsonl cannot be written/);
  expect(done).toEqual([]);
});

// Control T124.
it('an audit that is a symbolic link is not followed, and no action is carried out', async () => {
  await folder.write('profile', 'mine');
  await symlink(folder.at('profile'), file());
  const act = audited(succeed)({ type: 'delete', queue: 'foo-dlq.fifo' }, signal);
  await expect(act).rejects.toThrow(/^nothing was done: .*audit\.jsonl cannot be written/);
  expect(await folder.read('profile')).toBe('mine');
  expect(done).toEqual([]);
});

it('an action whose second line cannot be written is reported as carried out', async () => {
  const breakFile: ConsoleSource['act'] = async () => {
    await rm(file());
    await mkdir(file());
    return { text: 'Sent.' };
  };
  const act = audited(breakFile)({ type: 'redrive', queue: 'foo-dlq.fifo' }, signal);
  await expect(act).rejects.toThrow(/^Sent\. But .*audit\.jsonl cannot be written/);
  expect(done.join('\n')).not.toContain('"failed"');
});

it('the actions of a stage are read again with who did them, each once; one without an end has not ended', async () => {
  const act = audited(succeed);
  const paused = { type: 'pause', id: 'lab:foos/default/a' } as const;
  for (const action of [paused, paused, { type: 'redrive', queue: 'foo-dlq.fifo' } as const]) await act(action, signal);
  const killed = { ...common, action: 'delete', queue: 'foo-dlq.fifo', messageId: 'm', state: 'started' };
  await appendFile(file(), `${JSON.stringify(killed)}\n{"cut o`);
  const read = async (stage: string, range = { from: 0, to: Date.parse(at) }) =>
    (await readAudit({ folder: folder.path, stage }, range)).map(({ id, text }) => [id, text]);
  expect(await read('prod')).toEqual([
    [paused.id, `pause by ${who}: Sent.`],
    [paused.id, `pause by ${who}: Sent.`],
    [undefined, `redrive foo-dlq.fifo by ${who}: Sent.`],
    [undefined, `delete foo-dlq.fifo m by ${who}: it has not ended`],
  ]);
  expect(await read('dev')).toEqual([]);
  expect(await read('prod', { from: 0, to: Date.parse(at) - 1 })).toEqual([]);
  await rm(file());
  expect(await read('prod')).toEqual([]);
});

// Control T139.
it('names of a page add no line to the file', async () => {
  await audited(succeed)({ type: 'reconcile', id: 'a\n{"who":"another"}\u001b[2J' }, signal);
  expect(await lines()).toHaveLength(2);
  expect(await folder.read(auditFileName)).not.toContain('\u001b');
});

// Only writes of the state file and of the log that fail. Excluded: their content (test/dev/lambda, test/cli).
import { mkdir, readdir, rm } from 'node:fs/promises';
import { createLogFile } from '@outrigger/cli/dev/log-file';
import { replaceFile } from '@outrigger/cli/dev/replace-file';
import { createStateFile, readStateFile } from '@outrigger/cli/dev/state-file';
import { expect, it } from 'vitest';
import { useFolder } from '../support/folder.ts';

const folder = useFolder();
const state = { apiServer: 'a', queueEndpoint: 'q', lambda: 'l', queues: {}, simulators: {}, functions: [] };

it('a state that cannot be written ends nothing, and the next state is written', async () => {
  const file = createStateFile(folder.at('later/state.json'));
  file.write({ ...state, watchers: [] });
  await expect(file.settled()).rejects.toThrow('ENOENT');
  await mkdir(folder.at('later'));
  file.write({ ...state, watchers: [{ pid: 1 }] });
  await file.settled();
  expect(await readStateFile(folder.at('later/state.json'))).toEqual({ ...state, watchers: [{ pid: 1 }] });
});

const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });

it('B22: a state that cannot be written is reported, and the former one with its ended processes is removed', async () => {
  const failed: string[] = [];
  const disk = { isFull: false };
  const replace = async (...given: Parameters<typeof replaceFile>) => {
    if (disk.isFull) throw full;
    await replaceFile(...given);
  };
  const file = createStateFile(folder.at('state.json'), { onFailed: ({ message }) => failed.push(message), replace });
  file.write({ ...state, watchers: [{ pid: 1 }] });
  await file.settled();
  disk.isFull = true;
  file.write({ ...state, watchers: [{ pid: 2 }] });
  await expect(file.settled()).rejects.toThrow('ENOSPC');
  expect([failed, await readdir(folder.path)]).toEqual([[full.message], []]);
  disk.isFull = false;
  file.write({ ...state, watchers: [{ pid: 3 }] });
  await file.settled();
  expect(await readStateFile(folder.at('state.json'))).toMatchObject({ watchers: [{ pid: 3 }] });
});

it('B22: a log that loses lines is reported once until it is written again', async () => {
  const failed: string[] = [];
  const log = createLogFile(folder.at('gone/log.jsonl'), { onFailed: ({ message }) => failed.push(message) });
  for (const line of ['one', 'two']) log.write(line);
  expect(failed).toEqual([expect.stringContaining('ENOENT')]);
  await mkdir(folder.at('gone'));
  log.write('three');
  expect(await folder.read('gone/log.jsonl')).toBe('three\n');
  await rm(folder.at('gone'), { recursive: true });
  log.write('four');
  expect(failed).toHaveLength(2);
});

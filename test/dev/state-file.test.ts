// Only writes of the state file that fail. Excluded: its content (test/dev/lambda, test/cli).
import { mkdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { createStateFile, readStateFile } from '../../src/dev/state-file.ts';
import { useFolder } from '../support/folder.ts';

const folder = useFolder();

it('a state that cannot be written ends nothing, and the next state is written', async () => {
  const state = { apiServer: 'a', queueEndpoint: 'q', lambda: 'l', queues: {}, simulators: {}, functions: [] };
  const file = createStateFile(folder.at('later/state.json'));
  file.write({ ...state, watchers: [] });
  await expect(file.settled()).rejects.toThrow('ENOENT');
  await mkdir(folder.at('later'));
  file.write({ ...state, watchers: [{ pid: 1 }] });
  await file.settled();
  expect(await readStateFile(folder.at('later/state.json'))).toEqual({ ...state, watchers: [{ pid: 1 }] });
});

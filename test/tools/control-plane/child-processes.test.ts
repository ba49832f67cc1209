// Only that no program of a control plane outlives its test: programs that sleep, in the place of etcd and the API server.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { isRunning } from '@outrigger/cli/dev/folder-lock';
import { expect, it } from 'vitest';
import { createChildProcesses } from '../../../tools/control-plane/child-processes.ts';
import { temporaryFolder } from '../../support/folder.ts';

// The guard sees only that its pipe is closed, which is the same when the process exits or throws.
it('programs and their folder are gone when the process that started them is killed', async () => {
  const folder = temporaryFolder();
  const program = `
    import { createChildProcesses } from ${JSON.stringify(import.meta.resolve('../../../tools/control-plane/child-processes.ts'))};
    const children = createChildProcesses(${JSON.stringify(folder)});
    console.log(['one', 'other'].map((name) => children.start(name, 'sleep', ['600']).pid).join());
    process.kill(process.pid, 'SIGKILL');`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program]);
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
  const pids = output.trim().split(',').map(Number);
  expect(pids).toHaveLength(2);
  const left = () => [...pids.filter(isRunning), ...[folder].filter(existsSync)];
  await expect.poll(left, { timeout: 10_000, interval: 50 }).toEqual([]);
});

it('programs and their folder are gone after close', async () => {
  const folder = temporaryFolder();
  const children = createChildProcesses(folder);
  const { pid } = children.start('one', 'sleep', ['600']);
  expect([isRunning(pid), existsSync(folder)]).toEqual([true, true]);
  await children.close();
  expect([isRunning(pid), existsSync(folder)]).toEqual([false, false]);
});

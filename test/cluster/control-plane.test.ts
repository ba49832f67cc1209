// The cleanup of a control plane at the end of a test. Its users, audit log, crashes and pauses are shown by the tests that
// use them.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { startControlPlane } from '../../tools/control-plane/start.ts';

/** Returns whether the path exists, or any process has it on its command line. */
async function isLeft(folder: string): Promise<boolean> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'args'], { maxBuffer: 16 * 1024 * 1024 });
  const exists = access(folder).then(
    () => true,
    () => false,
  );
  return stdout.includes(folder) || (await exists);
}

describe('cleanup of the control plane', () => {
  // The guard sees only that its pipe is closed, which is the same when the process exits or throws.
  it('a control plane leaves neither processes nor files when the process that started it is killed', async () => {
    const program = `
      import { startControlPlane } from ${JSON.stringify(import.meta.resolve('../../tools/control-plane/start.ts'))};
      const plane = await startControlPlane({ controllerManager: true });
      console.log(plane.kubeconfig());
      process.kill(process.pid, 'SIGKILL');`;
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program]);
    const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
    const folder = dirname(output.trim());
    expect(folder).toContain('outrigger-plane-');
    await expect.poll(() => isLeft(folder), { timeout: 10_000, interval: 100 }).toBe(false);
  });

  it('a control plane leaves neither processes nor files after stop', async () => {
    const other = await startControlPlane();
    const folder = dirname(other.kubeconfig());
    expect(await isLeft(folder)).toBe(true);
    await other.stop();
    expect(await isLeft(folder)).toBe(false);
  });
});

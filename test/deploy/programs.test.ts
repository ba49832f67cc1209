// Only that a program for the deploy tests whose hash differs is not installed.
import { expect, it } from 'vitest';
import { wheelFile } from './python-tools.ts';

it('wheelFile rejects a wheel with another hash', async () => {
  const requirement = `six==1.17.0 --hash=sha256:${'0'.repeat(64)}`;
  await expect(wheelFile({ requirement, file: 'six.py' })).rejects.toThrow(/DO NOT MATCH THE HASHES/);
});

// Only the errors for missing programs that AWS's runtime and the SQS server need. The programs themselves are tested
// in the other files here.
import { expect, it } from 'vitest';
import { fetchJars } from './elasticmq.ts';
import { requireCompilers } from './interface-client.ts';

it('requireCompilers lists only the missing packages', async () => {
  await expect(requireCompilers('/nowhere')).rejects.toThrow(/apt-get install cmake make g\+\+ tar xz-utils$/);
  await expect(requireCompilers(process.env.PATH ?? '')).resolves.toBeUndefined();
});

it('fetchJars reports what to install when Maven is missing', async () => {
  await expect(fetchJars('/nowhere', '/nowhere/mvn')).rejects.toThrow(/install Java 11 or newer and Maven/);
});

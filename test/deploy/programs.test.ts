// Only what is said where something is missing that AWS's runtime and the SQS server are made of. That they run is in the files beside
// this one.
import { expect, it } from 'vitest';
import { fetchJars } from './elasticmq.ts';
import { requireCompilers } from './interface-client.ts';

it('without a compiler it is said what to install, and only what is missing', async () => {
  await expect(requireCompilers('/nowhere')).rejects.toThrow(/apt-get install cmake make g\+\+ tar xz-utils$/);
  await expect(requireCompilers(process.env.PATH ?? '')).resolves.toBeUndefined();
});

it('without Maven it is said what to install', async () => {
  await expect(fetchJars('/nowhere', '/nowhere/mvn')).rejects.toThrow(/install Java 11 or newer and Maven/);
});

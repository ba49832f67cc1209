// The release's cases on the in-memory API server; on the real one they are test/cluster/release.test.ts.
import { afterAll, beforeAll } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { releaseCases } from './release-cases.ts';
import { releaseChildrenCases } from './release-children-cases.ts';
import { releaseScene } from '../operations/detach-fixture.ts';

let server: Awaited<ReturnType<typeof startApiServer>>;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.close());

const scene = releaseScene(() => ({ server: new URL(server.url) }));
releaseCases(scene);
releaseChildrenCases(scene);

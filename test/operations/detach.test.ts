// The detach cases on the in-memory API server. On the real one they are in test/cluster/detach.test.ts.
import { afterAll, beforeAll } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { detachCases } from './detach-cases.ts';
import { detachChildrenCases } from './detach-children-cases.ts';
import { detachFixture } from './detach-fixture.ts';

let server: Awaited<ReturnType<typeof startApiServer>>;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.close());

const fixture = detachFixture(() => ({ server: new URL(server.url) }));
detachCases(fixture);
detachChildrenCases(fixture);

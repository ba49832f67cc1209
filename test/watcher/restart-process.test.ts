// The restart cases of the watcher process on the embedded API server.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { type ApiServer, startApiServer } from '../../src/apiserver/server.ts';
import { compactedCases, interruptedCases, restartCases } from './restart-cases.ts';

let folder: string;
let server: ApiServer;
const kubeconfig = () => path.join(folder, 'kubeconfig');
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'outrigger-restart-'));
  server = await startApiServer();
  await writeFile(kubeconfig(), server.kubeconfig());
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

const connect = () => ({
  connection: { server: new URL(server.url) },
  kubeconfig: kubeconfig(),
  compact: async () => server.expireWindow(),
});
restartCases(connect);
interruptedCases(connect);
compactedCases(connect);

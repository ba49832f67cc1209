// The demo on a real cluster, as a user runs it: every sample becomes Ready, with pods of a kubelet without containers.
// The behavior of the samples' objects is tested in the statements and journeys.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { registry } from '../../src/controllers/registry.ts';
import { startRealCluster } from '../../tools/kubelet/real-cluster.ts';

const root = path.resolve(import.meta.dirname, '../..');
const samples = 'infra/kubernetes/samples';
const readySeconds = 150;
const cluster = await startRealCluster();
afterAll(() => cluster.close());

/** The samples with a controller, as `Kind namespace/name`. */
async function sampleObjects(): Promise<string[]> {
  const reconciled = new Set(registry.map(({ declaration }) => declaration.resource.kind));
  const found: string[] = [];
  for (const file of await readdir(path.join(root, samples))) {
    for (const document of parseAllDocuments(await readFile(path.join(root, samples, file), 'utf8'))) {
      const { kind, metadata } = document.toJS();
      if (reconciled.has(kind)) found.push(`${kind} ${metadata.namespace ?? 'default'}/${metadata.name}`);
    }
  }
  return found;
}

describe('npm run demo on a real cluster', () => {
  it(
    'npm run demo -- --until-ready exits with 0 and a table of every sample, including those with workloads',
    { timeout: (readySeconds + 60) * 1000 },
    async () => {
      const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-real-demo-'));
      const options = ['--kubeconfig', cluster.plane.kubeconfig(), '--timeout-seconds', String(readySeconds)];
      const args = ['src/cli/main.ts', 'dev', '--folder', folder, '--apply', samples, '--until-ready', ...options];
      const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
      onTestFinished(async () => {
        child.kill('SIGKILL');
        await rm(folder, { recursive: true });
      });
      const [said, complaint] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
      expect(said + complaint).toMatch(/KIND +OBJECT +READY +REASON +AGE/);
      const table = said.slice(said.lastIndexOf('KIND '));
      const objects = await sampleObjects();
      expect(objects.length).toBeGreaterThan(5);
      for (const object of objects) expect(table).toMatch(new RegExp(`^${object.replace(' ', ' +')} +True `, 'm'));
      expect(child.exitCode).toBe(0);
    },
  );
});

// The peer written with Pepr: the module in pepr/, installed and built by Pepr's own tools in a folder outside of the
// tree, once per machine. Of the two controllers that Pepr deploys it is the watch controller, as a process: the other
// one handles admission requests, which no job has. It reconciles through Pepr's queues. The relevant setting is
// PEPR_RECONCILE_STRATEGY (https://docs.pepr.dev/user-guide/customization/#configuring-reconcile). Its default in this
// version is the most concurrent one, a queue for each object (src/lib/processors/watch-processor.ts in the package),
// so there is no better setting. The version 20.0.0 on npm is older than this one: it has no Reconcile.
import { execFile } from 'node:child_process';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { readYamlDocuments } from '@outrigger/common/yaml/read';
import * as z from 'zod';
import { cachedFolder } from '../../test/support/cached-folder.ts';
import { orLastLine } from './builder-error.ts';
import type { Contestant, Program } from './contestant.ts';

/** Pepr's watch controller. */
export const pepr: Contestant = {
  name: 'Pepr',
  jobs: ['foo', 'ping', 'slow'],
  settings: ['default'],
  prepare: () => orLastLine(install()),
};

const run = promisify(execFile);
const sources = path.join(import.meta.dirname, 'pepr');
const files = [
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'start.mts'],
  ...['pepr.ts', 'kinds.ts', 'numbers.ts', 'foo.ts', 'readiness.ts'],
];
const buildMilliseconds = 900_000;
const manifest = z.object({ dependencies: z.object({ pepr: z.string() }) });
const certificate = z.object({
  metadata: z.object({ name: z.literal('pepr-bench-tls') }),
  data: z.object({ 'tls.crt': z.string(), 'tls.key': z.string() }),
});

async function install(): Promise<Program> {
  const texts = await Promise.all(files.map((file) => readFile(path.join(sources, file), 'utf8')));
  const inputs = [...texts, process.version, process.platform, process.arch];
  const folder = await cachedFolder({ name: 'peer-pepr', inputs }, async (unfinished) => {
    process.stderr.write('Building the peer written with Pepr (once; a minute).\n');
    for (const file of files) await copyFile(path.join(sources, file), path.join(unfinished, file));
    await runBuild(unfinished, 'npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund']);
    await runBuild(unfinished, process.execPath, ['node_modules/pepr/dist/cli.js', 'build']);
    await extractCertificate(path.join(unfinished, 'dist'));
  });
  const { pepr: version } = manifest.parse(
    JSON.parse(await readFile(path.join(sources, 'package.json'), 'utf8')),
  ).dependencies;
  return {
    command: 'sh',
    // Its log goes to standard error; the module's third descriptor is the original standard output.
    args: ['-c', 'exec "$0" "$@" 3>&1 1>&2', process.execPath, path.join(folder, 'start.mts')],
    env: {
      // As in the watch controller's Deployment that `pepr build` generates.
      PEPR_WATCH_MODE: 'true',
      PEPR_PRETTY_LOG: 'false',
      LOG_LEVEL: 'info',
      SSL_CERT_PATH: path.join(folder, 'dist/tls.crt'),
      SSL_KEY_PATH: path.join(folder, 'dist/tls.key'),
    },
    version,
  };
}

async function runBuild(cwd: string, command: string, args: readonly string[]): Promise<void> {
  // This Node is first in PATH: npm and Pepr use the first one.
  const env = { ...process.env, PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env.PATH}` };
  await run(command, args, { cwd, env, timeout: buildMilliseconds, maxBuffer: 64 * 1024 * 1024 });
}

/**
 * Writes the files that the Deployment mounts from a Secret: the certificate of a server that is never called, but does
 * not start without one.
 */
async function extractCertificate(dist: string): Promise<void> {
  const documents = readYamlDocuments(await readFile(path.join(dist, 'pepr-module-bench.yaml'), 'utf8'));
  const { data } = certificate.parse(documents.find((document) => certificate.safeParse(document).success));
  for (const [name, value] of Object.entries(data)) {
    await writeFile(path.join(dist, name), Buffer.from(value, 'base64'), { mode: 0o600 });
  }
}

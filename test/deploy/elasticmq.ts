// ElasticMQ: an independent SQS server, which blocks message groups, deduplicates and moves messages to dead-letter
// queues. Its class path is resolved once per machine, outside of the tree. `npm run test:deploy` runs it first; by
// hand: `node test/deploy/elasticmq.ts`.
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { ChildProcesses } from '../../tools/control-plane/child-processes.ts';
import { cachedFolder } from '../support/cached-folder.ts';
import { buildFromCommandLine } from '../support/go-tools.ts';
import { untilLogged } from '../support/until-logged.ts';

const run = promisify(execFile);
const pom = path.join(import.meta.dirname, 'elasticmq/pom.xml');
const copyGoal = 'org.apache.maven.plugins:maven-dependency-plugin:2.8:copy-dependencies';
const resolveMilliseconds = 300_000;
const installJava = 'install Java 11 or newer and Maven (Debian: apt-get install default-jre-headless maven)';

/**
 * Returns the folder of its jars, and downloads them first if this machine does not have them. Throws with the missing
 * program.
 */
export async function elasticMqJars(): Promise<string> {
  return await cachedFolder({ name: 'elasticmq', inputs: [await readFile(pom, 'utf8')] }, async (unfinished) => {
    process.stderr.write('Downloading ElasticMQ for the deploy tests (once).\n');
    await fetchJars(unfinished);
  });
}

/** Downloads the jars into a folder with Maven. Throws with the missing program. */
async function fetchJars(folder: string): Promise<void> {
  const args = ['--quiet', '--batch-mode', '--file', pom, copyGoal, `-DoutputDirectory=${folder}`];
  await run('mvn', args, { timeout: resolveMilliseconds }).catch((error: unknown) => {
    const output = error instanceof Error && 'stdout' in error ? String(error.stdout).trim().slice(-1000) : '';
    throw new Error(`The deploy tests need ElasticMQ, and Maven failed to download it: ${installJava}\n${output}`, {
      cause: error,
    });
  });
}

/** Starts it on a free loopback port, as the queues of one account in one region; resolves with its endpoint. */
export async function startElasticMq(
  children: ChildProcesses,
  folder: string,
  { region, accountId }: { readonly region: string; readonly accountId: string },
): Promise<string> {
  const config = path.join(folder, 'elasticmq.conf');
  await writeFile(
    config,
    [
      'include classpath("application.conf")',
      // The address in queue URLs; clients use only their path, at the endpoint.
      'node-address { protocol = http, host = "127.0.0.1", port = 9324, context-path = "" }',
      'rest-sqs { enabled = true, bind-hostname = "127.0.0.1", bind-port = 0, sqs-limits = strict }',
      'rest-stats { enabled = false }',
      `aws { region = "${region}", accountId = "${accountId}" }`,
      '',
    ].join('\n'),
  );
  const program = children.start('elasticmq', 'java', [
    // It serves a few queues for a minute: little memory and no second compiler tier are enough.
    ...['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', `-Dconfig.file=${config}`],
    ...['-cp', path.join(await elasticMqJars(), '*'), 'org.elasticmq.server.Main'],
  ]);
  const [, address] = await untilLogged(program, /Started SQS rest server, bind address ([\d.]+:\d+)/);
  return `http://${address}`;
}

if (import.meta.main) await buildFromCommandLine(elasticMqJars().then((folder) => ({ folder })));

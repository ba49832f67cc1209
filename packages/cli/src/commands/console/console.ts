// `outrigger console --stage NAME`: the console of a deployed stage, served on this machine with the credentials of the
// operator. Every action is written to an audit file.
import path from 'node:path';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { Command } from 'commander';
import { readWatcherStatus } from 'outrigger/internal/checkpoint/watcher-status';
import { callerIdentity } from 'outrigger/internal/clusters/auth/aws-identity';
import { createClusters } from 'outrigger/internal/clusters/connect';
import { createClusterRegistry } from 'outrigger/internal/clusters/registry/registry';
import { openClusterSource } from 'outrigger/internal/clusters/registry/source';
import { UserError } from 'outrigger/internal/core/errors';
import { deploymentPrefix } from 'outrigger/internal/core/names';
import { environment, readAwsSettings } from 'outrigger/internal/settings';
import { watcherFacts } from '../../console/health.ts';
import { readPage } from '../../console/server/page-files.ts';
import { startConsole } from '../../console/server/server.ts';
import { createStageSource, type StageCluster } from '../../console/stage/stage-source.ts';
import { explainListening } from '../../dev/explain-error.ts';
import { loadProject } from '../../project/project.ts';
import { tableLocation } from '../clusters/table.ts';
import { acting, disposable, formatError, portNumber, printError, printLines } from '../command.ts';
import { readHidden } from '../function-log.ts';
import { openInstallation } from '../installation.ts';
import { openInBrowser } from '../open-in-browser.ts';
import { devFolder } from '../place.ts';
import { awsAccess } from '../stage-table.ts';
import { auditFileName, readAudit, withAudit } from './audit.ts';
import { awsConsole, functionFigures, readThrottles } from './function-figures.ts';
import { createOperator } from './operator.ts';
import { openStageLog } from './stage-log.ts';

type Flags = {
  readonly stage: string;
  readonly region?: string;
  readonly folder: string;
  readonly port: number;
  readonly open?: true;
  readonly readOnly?: true;
};

/** Makes the command. */
export function consoleCommand(): Command {
  return new Command('console')
    .description('show a deployed stage in the browser, with your own credentials')
    .requiredOption('--stage <name>', 'the deployment of that stage on AWS, as osls deploy --stage named it')
    .option('--region <name>', 'its AWS region; by default from AWS_REGION or your profile')
    .option('--folder <path>', 'the folder of the audit file', devFolder)
    .option('--port <port>', 'port of the console; a free one by default', portNumber, 0)
    .option('--open', 'open the console in the browser')
    .option('--read-only', 'refuse every action but dry runs')
    .addHelpText('after', helpText)
    .action(acting(run));
}

const helpText = `
Example:
  outrigger console --stage prod --open
It listens on this machine only, until Ctrl-C. Objects are read from each cluster of the table, reconciles from
CloudWatch Logs, and queues from SQS, with the permissions that status, logs, dlq, replay and pause need. History shows
what happened in a time range; what Lambda counts of the functions needs cloudwatch:GetMetricData.
Each action asks for a confirmation, and is printed and written to audit.jsonl in the folder: who, when, what, result.
A dead letter is received and returned to be shown: it is in flight for some seconds. Timers cannot be browsed: those
are shown that the functions have logged since the console started.
Exit status: 0 after Ctrl-C, 1 when it cannot be started.`;

/** The table is read this often while the console runs. */
const tableSeconds = 4;

async function run({ stage, region, folder, port, open, readOnly }: Flags, stopped: AbortSignal): Promise<number> {
  const { registry } = await loadProject(process.cwd());
  const at = { region };
  const aws = awsAccess(at);
  const now = () => new Date();
  await using parts = new AsyncDisposableStack();
  const installation = parts.use(await openInstallation({ stage, folder, ...at }, stopped));
  const { sqs, urlPrefix, project, namespaces, lambda } = installation;
  const table = await tableLocation({ stage, ...at });
  const { arn } = await callerIdentity({ ...aws, endpoint: readAwsSettings().stsEndpoint });
  const entries = createClusterRegistry({ ...openClusterSource(table, aws), refreshSeconds: tableSeconds }, { now });
  const clusters = createClusters(entries, { now, client: { userAgent: 'outrigger-console' } });
  parts.defer(() => clusters.close());
  const prefix = deploymentPrefix(stage, project);
  const client = parts.use(disposable(new LambdaClient(lambda)));
  const log = await openStageLog(urlPrefix, at, () => Date.now());
  parts.defer(() => log.close());
  const ending = new AbortController();
  parts.defer(() => ending.abort());
  const audit = { folder: path.resolve(folder), stage, who: arn, now, print: (line: string) => printLines([line]) };

  const source = createStageSource(registry, {
    name: stage,
    project,
    at: installation.at,
    namespaces,
    sqs,
    urlPrefix,
    signal: ending.signal,
    newLines: log.newLines,
    linesBetween: log.linesBetween,
    ...functionFigures(client, { prefix, region: at }),
    throttlesOf: async (names) => await readThrottles(names, { prefix, region: at }),
    readHidden: async (signal) => await readHidden(installation, signal),
    readVersion: async () => (await installation.deployed())?.version,
    aws: await awsConsole(prefix, at),
    actions: async (range) => await readAudit(audit, range),
    operator: createOperator({
      registry,
      project,
      environment: async () => environment(),
      lambda,
      urlPrefix,
      table,
      place: { stage, region },
    }),
    clusters: async () => {
      const names = await entries.list();
      // The list is the last one that could be read.
      const failure = entries.failure();
      if (failure !== undefined) throw failure;
      return await Promise.all(
        names.map(async (name): Promise<StageCluster> => {
          const found = await clusters.find(name).catch((error: unknown) => new UserError(formatError(error)));
          if (found instanceof Error) return { name, connect: async () => await Promise.reject(found) };
          if (found.type === 'client') return { name, connect: async () => found.client };
          return found.type === 'paused'
            ? { name, paused: true, connect: found.connect }
            : { name, decommissioning: true };
        }),
      );
    },
    watcherOf: async (client, signal) => watcherFacts(await readWatcherStatus(client, Date.now(), { project, signal })),
  });
  const system = readOnly === true ? { ...source.system, readOnly } : source.system;
  const audited = { ...source, system, act: withAudit(source.act, audit) };
  const page = await explainListening('--port', port, () =>
    startConsole({ source: audited, page: readPage }, { port }),
  );
  parts.defer(() => page.close());
  printLines([
    `you are ${arn}`,
    `actions are written to ${path.join(folder, auditFileName)}`,
    `the console in a browser: ${page.url}`,
  ]);
  if (open === true) openInBrowser(page.url, printError);
  await new Promise<void>((resolve) => {
    if (stopped.aborted) resolve();
    stopped.addEventListener('abort', () => resolve());
  });
  return 0;
}

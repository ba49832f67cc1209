// `outrigger verify`: a round trip through every queue, function and role of a deployment, and to every cluster of its
// table, by messages that name no object.
import { Command } from 'commander';
import { timersQueue } from 'outrigger/internal/core/names';
import { readRoleIds, readTimersSettings } from 'outrigger/internal/settings';
import { loadProject, readNamespaces } from '../../project/project.ts';
import {
  acting,
  jsonOption,
  type Output,
  outputOption,
  printError,
  printJson,
  printLines,
  wholeNumber,
} from '../command.ts';
import { checkAccount } from '../doctor/check-account.ts';
import { findingLines } from '../doctor/finding.ts';
import { type Installation, openInstallation } from '../installation.ts';
import { readVariables } from '../stage-table.ts';
import { awaitAnswers } from './answers.ts';
import { judge } from './judge.ts';
import { routesOf, sendProbes } from './routes.ts';

type Flags = {
  readonly stage: string;
  readonly region?: string;
  readonly cluster?: string;
  readonly timeout: number;
  readonly output: Output;
};

/** Makes the command. */
export function verifyCommand(): Command {
  return new Command('verify')
    .description('send a message that names no object through every queue and function of a stage, and print the times')
    .requiredOption('--stage <name>', 'the deployment of that stage on AWS, as osls deploy --stage named it')
    .option('--region <name>', 'its AWS region; by default from AWS_REGION or your profile')
    .option('--cluster <name>', 'ask only this cluster; by default every one of the table')
    .option('--timeout <seconds>', 'how long to wait for the answers', wholeNumber, 90)
    .addOption(outputOption())
    .addOption(jsonOption())
    .addHelpText('after', helpText)
    .action(acting(run));
}

const helpText = `
Examples:
  outrigger verify --stage prod
  outrigger verify --stage prod --cluster berlin --output json | jq '.[] | select(.state != "ok")'

Each function answers in its log: it reads the clusters table, asks every cluster as whom it is known and whether it may
list its kinds, and sends the message to timers, which sends it back after 5 seconds. So a pass shows the roles, the
queues with their mappings, the delay, the table, the secrets, the network to the clusters, RBAC, and the logs. It also
asks what doctor asks of Lambda, and for the schedule. No object is read or written.
You need sqs:SendMessage, lambda:InvokeFunction (wake), logs:FilterLogEvents, and the permissions of doctor.
It costs about eight requests to SQS for each function: less than $0.001.
It does not see watchers (status does), the evaluation and receivers of alarms, sends to dead-letter queues, rules of
EventBridge, and Fargate. Run it with functions of this version: former ones make the messages dead letters.
Exit status: 0 when everything answered, 1 when something is wrong. Warnings do not count.`;

async function run({ cluster, timeout, output, ...flags }: Flags, signal: AbortSignal): Promise<number> {
  const { registry } = await loadProject(process.cwd());
  using installation = await openInstallation({ ...flags, folder: '' }, signal);
  const { at } = installation;
  const deploy = `if it was never deployed: npx osls deploy${at}`;
  const account = await checkAccount(installation, registry, { deploy, signal });
  // A queue without a mapping, or with one that is paused, is a finding already, and nothing answers from it.
  const silent = account.flatMap(({ about }) => /^function of (.*?)(\.fifo)?$/.exec(about)?.[1] ?? []);
  const { routes, untested } = routesOf(registry, silent);
  const sinceMs = Date.now();
  const namespace = (await readNamespaces(process.cwd()))?.[0];
  const { id, notSent } = await sendProbes(installation, routes, { cluster, namespace, signal });
  const sent = routes.filter(({ from }) => !notSent.has(from));
  const find = await awaitAnswers(installation, sent, { id, sinceMs, seconds: timeout, signal });
  const roles = await roleIds(installation, signal);
  const findings = [...account, ...untested, ...judge(routes, { find, notSent, roles, seconds: timeout, at, deploy })];
  if (output === 'json') printJson(findings);
  else printLines(findingLines(findings));
  printError('not seen: watchers, alarms, dead-letter queues, rules of EventBridge, Fargate (outrigger verify --help)');
  return findings.some(({ state }) => state === 'wrong') ? 1 : 0;
}

/** The ids of the roles as the functions know them; undefined if the sender check is off, or the function is gone. */
async function roleIds({ urlPrefix, region }: Installation, signal: AbortSignal) {
  const name = `${urlPrefix.split('/').at(-1)}${timersQueue}`;
  try {
    return readRoleIds(readTimersSettings(await readVariables(name, { region }, signal)), []);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

// The commands of osls besides package and deploy, on two projects with two stages each in one emulated account: none
// touches what another deployment has. Bundles are stubs.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CloudWatchLogsClient, CreateLogStreamCommand, PutLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { GetFunctionConfigurationCommand, LambdaClient, ListFunctionsCommand } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type OslsResult,
  paramsOf,
  type ServiceFolder,
  sampleSettings,
  serviceFolder,
} from '../support/service-folder.ts';
import { type EmulatedAccount, startEmulatedAccount } from './emulated-account.ts';

const projects = ['outrigger', 'bakery'];
const stages = ['dev', 'prod'];

let aws: EmulatedAccount;
let lambda: LambdaClient;
const services = new Map<string, ServiceFolder>();

async function osls(project: string, args: readonly string[]): Promise<OslsResult> {
  const given = [...args, '--region', aws.region, ...paramsOf({ ...sampleSettings, MONITORING: 'off' })];
  const result = await services.get(project)?.osls(given, aws.environment);
  expect(result?.status, `${args.join(' ')}: ${result?.output}${result?.progress}`).toBe(0);
  return result ?? { status: 1, output: '', progress: '' };
}

/** The functions of the account, by deployment, each with the hash of its code. */
async function functions(): Promise<Readonly<Record<string, string>>> {
  const { Functions = [] } = await lambda.send(new ListFunctionsCommand({ MaxItems: 1_000 }));
  return Object.fromEntries(Functions.map(({ FunctionName = '', CodeSha256 = '' }) => [FunctionName, CodeSha256]));
}

beforeAll(async () => {
  aws = await startEmulatedAccount();
  lambda = new LambdaClient(aws.client);
  for (const project of projects) {
    services.set(project, await serviceFolder(project));
    for (const stage of stages) await osls(project, ['deploy', '--stage', stage]);
  }
}, 400_000);
afterAll(async () => {
  lambda?.destroy();
  await aws?.close();
  for (const service of services.values()) await service.remove();
});

const inDeployment = (all: Readonly<Record<string, string>>, prefix: string): readonly string[] =>
  Object.keys(all).filter((name) => name.startsWith(prefix));

it('two projects with two stages each have the same functions, under names of their own', async () => {
  const all = await functions();
  const names = projects.flatMap((project) =>
    stages.map((stage) =>
      inDeployment(all, `${project}-${stage}-`).map((name) => name.slice(`${project}-${stage}-`.length)),
    ),
  );
  expect(names[0]?.toSorted()).toContain('water-tank');
  for (const one of names) expect(one.toSorted()).toEqual(names[0]?.toSorted());
});

it('osls print shows the functions and options of the plugin, and osls info its stack', async () => {
  const { output } = await osls('bakery', ['print', '--stage', 'prod']);
  expect(output).toContain('name: bakery-prod-water-tank');
  expect(output).toContain("LOG_RETENTION_DAYS: '30'");
  const { output: info } = await osls('bakery', ['info', '--stage', 'prod', '--verbose']);
  // The emulator has no outputs of a stack, with which osls also lists the functions.
  expect(info).toContain('stack: bakery-prod');
});

it('osls logs shows the lines of a function', async () => {
  const client = new CloudWatchLogsClient(aws.client);
  const stream = { logGroupName: '/aws/lambda/bakery-prod-timers', logStreamName: 'one' };
  await client.send(new CreateLogStreamCommand(stream));
  const logEvents = [{ timestamp: Date.now(), message: 'a line of timers' }];
  await client.send(new PutLogEventsCommand({ ...stream, logEvents }));
  client.destroy();
  expect((await osls('bakery', ['logs', '--function', 'timers', '--stage', 'prod'])).output).toContain(
    'a line of timers',
  );
});

it('osls deploy function replaces the code and the configuration of one function, and keeps its role', async () => {
  const before = await functions();
  const name = 'bakery-dev-water-tank';
  const read = async () => await lambda.send(new GetFunctionConfigurationCommand({ FunctionName: name }));
  const { Role, Environment } = await read();
  const bundle = path.join(services.get('bakery')?.folder ?? '', 'dist/water-tank/index.mjs');
  await writeFile(bundle, 'export const handler = () => "changed";');
  await osls('bakery', ['deploy', 'function', '--function', 'waterTank', '--stage', 'dev']);
  const after = await functions();
  expect(Object.keys(after).filter((one) => after[one] !== before[one])).toEqual([name]);
  expect(await read()).toMatchObject({ Role, Environment, Timeout: 30 });
});

it('osls remove removes one stage of one project', async () => {
  const before = await functions();
  await osls('bakery', ['remove', '--stage', 'dev']);
  const left = Object.keys(await functions());
  expect(left.toSorted()).toEqual(
    Object.keys(before)
      .filter((name) => !name.startsWith('bakery-dev-'))
      .toSorted(),
  );
}, 120_000);

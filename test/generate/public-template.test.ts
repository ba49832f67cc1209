// What a version of the package changes in a deployment: the template of the samples, as a file that a review reads, and
// the names that authors and other stacks may use. And that what an author sets wins over what the generator makes of
// it; the examples of the documents are overrides.test.ts.

import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { registry } from '../../src/controllers/registry.ts';
import { logicalId } from '../../src/core/names.ts';
import { serviceFolder } from '../support/service-folder.ts';
import { packageTemplate } from './package-template.ts';

const resource = z.looseObject({ Type: z.string(), Properties: z.record(z.string(), z.unknown()).default({}) });
const shape = z.object({
  Parameters: z.record(z.string(), z.unknown()),
  Resources: z.record(z.string(), resource),
  Outputs: z.record(z.string(), z.unknown()),
});
type Template = z.output<typeof shape>;

const ofWaterTank = (
  'WaterTankDeadLetters WaterTankDeadLettersAlarm WaterTankErrorsAlarm WaterTankLambdaFunction ' +
  'WaterTankLateAlarm WaterTankLogGroup WaterTankMissedChangesAlarm WaterTankQueue WaterTankRole ' +
  'WaterTankThrottlesAlarm WaterTankWake1Rule WaterTankWake1RulePermission'
).split(' ');
const shared = (
  'AlarmTopic ByCauseQuery ByClusterQuery ClusterTroubleAlarm ClustersBucket ClustersBucketPolicy ' +
  'ClustersTableStaleAlarm Dashboard DeadLettersPolicy DeadLettersQuery DeduplicationSecret FleetPolicy InvocationsQuery ' +
  'OneKeyQuery ResyncAbandonedAlarm ResyncDeadLetters ResyncDeadLettersAlarm ResyncErrorsAlarm ResyncFailingAlarm ' +
  'ResyncLambdaEvConf ResyncLambdaFunction ResyncLateAlarm ResyncLogGroup ResyncNotRunAlarm ResyncQuery ' +
  'ResyncQueue ResyncRole ResyncSchedulerSchedule1 ResyncThrottlesAlarm ScheduleRole ' +
  'SelfTriggeredAlarm SendersRefusedAlarm SlowestQuery TimersDeadLetters TimersDeadLettersAlarm TimersErrorsAlarm ' +
  'TimersLambdaFunction TimersLateAlarm TimersLogGroup TimersQueue TimersQueuePolicy TimersRole ' +
  'TimersThrottlesAlarm UnreachableClustersQuery WakeDeadLettersPolicy WakeErrorsAlarm WakeLambdaFunction ' +
  'WakeLogGroup WakeRetries WakeRole WakeThrottlesAlarm WatcherDownAlarm WatcherPolicy WatchersQuery WhatFailsQuery'
).split(' ');

/** What an author sets in serverless.yml, besides the environment of the provider. */
const own = `functions:
  waterTank:
    memorySize: 512
    timeout: 400
  timers:
    memorySize: 1024
resources:
  extensions:
    DinnerQueue:
      Properties:
        VisibilityTimeout: 1000
`;

let template: Template;
beforeAll(async () => {
  template = shape.parse(JSON.parse(await packageTemplate('dev')));
}, 120_000);

it('a parameter that nothing reads any more is refused with what says the same', async () => {
  const more = 'resources:\n  Parameters:\n    ResyncScheduleSeconds: { Type: String, Default: "60" }\n';
  await expect(packageTemplate('dev', [], { more })).rejects.toThrow(/ResyncScheduleSeconds.*RESYNC_PERIOD_SECONDS/);
}, 120_000);

/** The entries of a record, by name. */
const sorted = <T>(all: Readonly<Record<string, T>>) => Object.entries(all).toSorted(([a], [b]) => (a < b ? -1 : 1));

/** A template in lines: one for each property of a resource, a parameter and an output. */
function linesOf({ Parameters, Resources, Outputs }: Template): readonly string[] {
  const line = ([name, value]: readonly [string, unknown]) => `  ${name}: ${JSON.stringify(value)}`;
  return [
    ...['Parameters', ...sorted(Parameters).map(line)],
    ...['Outputs', ...sorted(Outputs).map(line)],
    ...sorted(Resources).flatMap(([id, { Type, Properties, ...more }]) => [
      `${id} ${Type}`,
      // The time of the upload is in its path.
      ...[...sorted(more), ...sorted(Properties)].filter(([name]) => name !== 'Code').map(line),
    ]),
  ];
}

it('the template of the samples is samples-template.txt: vitest -u writes it, and its diff is what a deployment changes', async () => {
  const file = path.join(import.meta.dirname, 'samples-template.txt');
  await expect(`${linesOf(template).join('\n')}\n`).toMatchFileSnapshot(file);
});

it('the ids that authors may refer to are those of a controller, of what exists once, and parameters and outputs', () => {
  const ids = Object.keys(template.Resources);
  const ofController = ids.filter((id) => id.startsWith('WaterTank') && !id.includes('EventSourceMapping'));
  expect(ofController.toSorted()).toEqual(ofWaterTank);
  const others = registry.map(({ name }) => logicalId(name));
  const isOther = (id: string) =>
    others.some((one) => id.startsWith(one)) || /EventSourceMapping|^ServerlessD/.test(id);
  expect(ids.filter((id) => !isOther(id)).toSorted()).toEqual(shared);
  // Settings alone: an update by other tools than osls keeps the former value of a parameter, not its new default.
  expect(Object.keys(template.Parameters).toSorted()).toEqual(['PantryUrl', 'PlantUrl']);
  expect(Object.keys(template.Outputs).toSorted()).toEqual([
    'ClustersTable',
    'FleetPolicyArn',
    'QueueUrlPrefix',
    'ServerlessDeploymentBucketName',
    'WatcherPolicyArn',
  ]);
});

it('what the author sets of a function and of the provider wins, a queue and its alarms follow the timeout, and an extension wins over that', async () => {
  const service = await serviceFolder();
  onTestFinished(service.remove);
  const file = path.join(service.folder, 'serverless.yml');
  const environment = '  environment:\n    LOG_LEVEL: WARN\n    REGION_NAME: north\n';
  await writeFile(file, (await readFile(file, 'utf8')).replace('provider:\n', `provider:\n${environment}`));
  await service.extend(own);
  const { status, output } = await service.osls(['package', '--param', 'DINNER_TIMEOUT_SECONDS=100']);
  expect(status, output).toBe(0);
  const { Resources } = shape.parse(JSON.parse(await service.template()));
  const properties = (id: string) => Resources[id]?.Properties ?? {};
  expect(properties('WaterTankLambdaFunction')).toMatchObject({ MemorySize: 512, Timeout: 400 });
  expect(properties('TimersLambdaFunction')).toMatchObject({ MemorySize: 1024, Timeout: 30 });
  expect(properties('WaterTankQueue')).toMatchObject({
    VisibilityTimeout: 2400,
    RedrivePolicy: { maxReceiveCount: 72 },
  });
  expect(properties('WaterTankErrorsAlarm')).toMatchObject({ Period: 600 });
  expect(properties('DinnerLambdaFunction')).toMatchObject({ MemorySize: 256, Timeout: 100 });
  expect(properties('DinnerQueue')).toMatchObject({ VisibilityTimeout: 1000, FifoQueue: true });
  for (const id of ['WaterTankLambdaFunction', 'ResyncLambdaFunction'])
    expect(properties(id).Environment).toMatchObject({
      Variables: { LOG_LEVEL: 'WARN', REGION_NAME: 'north', PROJECT: 'outrigger' },
    });
}, 120_000);

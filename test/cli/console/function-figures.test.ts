// Only what the console of a stage reads of its functions from CloudWatch and Lambda, over HTTP, and the links to the AWS
// console by partition.
import { LambdaClient } from '@aws-sdk/client-lambda';
import { awsConsole, functionFigures } from '@outrigger/cli/commands/console/function-figures';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type Account, startAwsServices } from '../aws-services.ts';

const { signal } = new AbortController();
const range = { from: Date.now() - 3_600_000, to: Date.now() };
const functions = { foo: { LastModified: '2026-11-28T03:05:12.123+0000', CodeSha256: 'q1w2e3r4t5=' } };

async function open(account: Partial<Account>) {
  const services = await startAwsServices({ mappings: [], unreserved: 1, parameters: {}, functions, ...account });
  const lambda = new LambdaClient({ region: 'us-east-1', endpoint: services.url, maxAttempts: 1 });
  const variables = { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
  for (const [name, value] of Object.entries({ ...variables, AWS_ENDPOINT_URL: services.url })) vi.stubEnv(name, value);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    lambda.destroy();
    await services.close();
  });
  return functionFigures(lambda, { prefix: 'outrigger-dev-', region: { region: 'us-east-1' } });
}

it('the points of a function are summed, and one without points was not invoked', async () => {
  const name = 'outrigger-dev-foo';
  const metrics = { [`${name} Invocations`]: [3, 4], [`${name} Errors`]: [1], [`${name} Throttles`]: [2, 9] };
  const { countsOf, deploymentOf } = await open({ metrics });
  expect(await countsOf('foo', range)).toEqual({ invocations: 7, errors: 1, throttles: 11 });
  expect(await countsOf('bar', range)).toEqual({ invocations: 0, errors: 0, throttles: 0 });
  const deployedAt = Date.UTC(2026, 10, 28, 3, 5, 12, 123);
  expect(await deploymentOf('foo', signal)).toEqual({ deployedAt, code: 'q1w2e3r4t5=' });
});

it.each([
  ['10:00:30', '10:03:30', 2],
  ['10:00:00', '10:03:00', 3],
  ['10:00:10', '10:00:50', undefined],
])('of the time from %s to %s no minute is counted that is partly outside', async (start, end, invocations) => {
  const { countsOf } = await open({ metrics: { 'outrigger-dev-foo Invocations': 'one a period' } });
  const [from, to] = [start, end].map((time) => Date.parse(`${new Date().toISOString().slice(0, 10)}T${time}Z`));
  expect((await countsOf('foo', { from: from ?? 0, to: to ?? 0 })).invocations).toBe(invocations);
});

it.each([
  ['that are forbidden', {}, /^monitoring\.us-east-1\.amazonaws\.com answered 403 \(AccessDenied\)$/],
  ['of which a part is missing', { metrics: {}, metricsStatus: 'InternalError' }, /has not responded with every point/],
  ['that are no list', { metrics: {}, metricsStatus: 'no values' }, /has not responded with every point/],
])('points %s are an error, and no count of zero', async (_, account, message) => {
  const { countsOf } = await open(account);
  await expect(countsOf('foo', range)).rejects.toThrow(message);
});

it.each([
  ['eu-west-1', 'https://eu-west-1.console.aws.amazon.com/cloudwatch/home?region=eu-west-1'],
  ['cn-north-1', 'https://cn-north-1.console.amazonaws.cn/cloudwatch/home?region=cn-north-1'],
  ['us-gov-west-1', 'https://us-gov-west-1.console.amazonaws-us-gov.com/cloudwatch/home?region=us-gov-west-1'],
  ['eusc-de-east-1', 'https://eusc-de-east-1.console.amazonaws-eusc.eu/cloudwatch/home?region=eusc-de-east-1'],
  ['us-iso-east-1', undefined],
])('links of %s begin with %s', async (region, cloudWatch) => {
  expect((await awsConsole('a-', { region }))?.cloudWatch).toBe(cloudWatch);
});

// `outrigger pause` and `resume --stage` as a person runs them, against SQS and as much of Lambda as they ask.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pauseCommand, resumeCommand } from '../../src/cli/pause.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { type Account, startAwsServices } from './aws-services.ts';
import { runHere } from './operated-system.ts';

const account: Account = { mappings: [], unreserved: 1000, parameters: {} };
const mappingOf = (name: string, State = 'Enabled') => ({
  UUID: `uuid-of-${name}`,
  State,
  EventSourceArn: `arn:aws:sqs:us-east-1:000000000000:outrigger-dev-${name}`,
});
let queues: TestQueues;
let services: Awaited<ReturnType<typeof startAwsServices>>;
beforeAll(async () => {
  queues = await startTestQueues();
  await queues.create('outrigger-dev-timers');
  services = await startAwsServices(account);
});
afterAll(async () => {
  await queues.stop();
  services.close();
});
beforeEach(() => {
  account.mappings = [mappingOf('dinner.fifo'), mappingOf('foo.fifo'), mappingOf('timers')];
});

async function runAt(command: typeof pauseCommand, ...argv: readonly string[]) {
  return await runHere(command(), argv, {
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL_SQS: queues.endpoint,
    AWS_ENDPOINT_URL_LAMBDA: services.url,
  });
}

describe('a controller', () => {
  it('is paused alone, and says where its messages wait', async () => {
    const { out, status } = await runAt(pauseCommand, 'dinner', '--stage', 'dev');
    expect({ out, status }).toEqual({ out: 'dinner is paused: its messages wait in dinner.fifo\n', status: 0 });
    expect(account.mappings).toEqual([
      mappingOf('dinner.fifo', 'Disabled'),
      mappingOf('foo.fifo'),
      mappingOf('timers'),
    ]);
  });

  it('goes on', async () => {
    account.mappings = [mappingOf('dinner.fifo', 'Disabled')];
    expect(await runAt(resumeCommand, 'dinner', '--stage', 'dev')).toMatchObject({
      out: 'dinner goes on\n',
      status: 0,
    });
    expect(account.mappings).toEqual([mappingOf('dinner.fifo')]);
  });

  it('that is so already stays so', async () => {
    expect((await runAt(resumeCommand, 'dinner', '--stage', 'dev')).status).toBe(0);
    expect(account.mappings).toContainEqual(mappingOf('dinner.fifo'));
  });
});

describe('a mistake is one line that says what to do:', () => {
  it.each([
    [
      'a controller that is not there',
      ['soup', '--stage', 'dev'],
      'there is no controller "soup"; there are water-tank',
    ],
    ['a stage that is not there', ['dinner', '--stage', 'none'], 'there is no queue outrigger-none-timers'],
    ['nothing runs here', ['dinner', '--folder', 'nowhere'], 'start outrigger dev, or name a deployment with --stage'],
    [
      'no function takes from its queue',
      ['ingredient', '--stage', 'dev'],
      'outrigger doctor says how to have one again',
    ],
  ])('%s', async (_, argv, says) => {
    const { err, status } = await runAt(pauseCommand, ...argv);
    expect(err.trimEnd().split('\n').at(-1)).toContain(says);
    expect(err).not.toContain('    at ');
    expect(status).toBe(1);
    expect(account.mappings).toEqual([mappingOf('dinner.fifo'), mappingOf('foo.fifo'), mappingOf('timers')]);
  });
});

// `outrigger pause` and `resume` as a person runs them, against SQS and a fake of Lambda. On one machine they are in
// status/status.test.ts.

import { pauseCommand, resumeCommand } from '@outrigger/cli/commands/pause';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { type Account, startAwsServices } from './aws-services.ts';
import { expectUserError, runHere } from './command-result.ts';

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

describe('pause and resume', () => {
  it('pause disables the mapping of one controller, and names the queue in which its messages wait', async () => {
    const { out, status } = await runAt(pauseCommand, 'dinner', '--stage', 'dev');
    expect(status).toBe(0);
    expect(out).toMatch(/^dinner is paused: its messages wait in dinner.fifo\n.* --param PAUSED=dinner \(/);
    const others = [mappingOf('foo.fifo'), mappingOf('timers')];
    expect(account.mappings).toEqual([mappingOf('dinner.fifo', 'Disabled'), ...others]);
  });

  it('resume enables the mapping of a paused controller', async () => {
    account.mappings = [mappingOf('dinner.fifo', 'Disabled'), mappingOf('foo.fifo', 'Disabled')];
    const { out, status } = await runAt(resumeCommand, 'dinner', '--stage', 'dev');
    expect(status).toBe(0);
    expect(out).toMatch(/^dinner is resumed\n.* --param PAUSED=foo \(/);
    expect(account.mappings).toEqual([mappingOf('dinner.fifo'), mappingOf('foo.fifo', 'Disabled')]);
    expect((await runAt(resumeCommand, 'foo', '--stage', 'dev')).out).toContain('need no PAUSED');
  });

  it('resume of a controller that is not paused prints that, changes nothing, and exits with 0', async () => {
    const { out, status } = await runAt(resumeCommand, 'dinner', '--stage', 'dev');
    expect([out.split('\n')[0], status]).toEqual(['dinner was not paused', 0]);
    expect(account.mappings).toContainEqual(mappingOf('dinner.fifo'));
  });
});

describe('pause errors', () => {
  it.each([
    ['an unknown controller', ['soup', '--stage', 'dev'], 'there is no controller "soup"; the controllers are'],
    ['an unknown stage', ['dinner', '--stage', 'none'], 'there is no queue outrigger-none-timers'],
    ['a folder in which nothing runs', ['dinner', '--folder', 'nowhere'], 'start outrigger dev, or name a deployment'],
    [
      'a controller without a function',
      ['ingredient', '--stage', 'dev'],
      'outrigger doctor --stage dev prints how to restore',
    ],
  ])('pause of %s prints one line with the next step, and exits with 1', async (_, argv, message) => {
    expectUserError(await runAt(pauseCommand, ...argv), message);
    expect(account.mappings).toEqual([mappingOf('dinner.fifo'), mappingOf('foo.fifo'), mappingOf('timers')]);
  });
});

// `outrigger pause` and `resume` as a person runs them, against SQS and a fake of Lambda, or Lambda’s API of one machine.
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { pauseCommand, resumeCommand } from '../../src/cli/pause.ts';
import { startLambdaApi } from '../../src/dev/lambda/lambda-api.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { useFolder } from '../support/folder.ts';
import { type Account, startAwsServices } from './aws-services.ts';
import { expectUserError, runHere } from './command-result.ts';

const account: Account = { mappings: [], unreserved: 1000, parameters: {} };
const mappingOf = (name: string, State = 'Enabled') => ({
  UUID: `uuid-of-${name}`,
  State,
  EventSourceArn: `arn:aws:sqs:us-east-1:000000000000:outrigger-dev-${name}`,
});
const folder = useFolder({ shared: true });
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

  it('resume of a controller that is not paused changes nothing, and exits with 0', async () => {
    expect((await runAt(resumeCommand, 'dinner', '--stage', 'dev')).status).toBe(0);
    expect(account.mappings).toContainEqual(mappingOf('dinner.fifo'));
  });
});

describe('pause on one machine', () => {
  it('pause and resume switch the mapping of a controller in the system that outrigger dev runs', async () => {
    const paused = new Map([
      ['dinner.fifo', false],
      ['foo.fifo', false],
    ]);
    const mappings = [...paused.keys()].map((name) => ({
      uuid: `uuid-of-${name}`,
      queueArn: `arn:aws:sqs:us-east-1:000000000000:outrigger-dev-${name}`,
      isPaused: () => paused.get(name) === true,
      setPaused: (wanted: boolean) => void paused.set(name, wanted),
      retry: async () => undefined,
      stop: async () => undefined,
    }));
    const api = await startLambdaApi({ mappings });
    onTestFinished(() => api.close());
    const state = {
      ...{ apiServer: 'http://127.0.0.1:1', queueEndpoint: queues.endpoint, lambda: api.url },
      ...{ queues: { timers: `${queues.urlPrefix}outrigger-dev-timers` }, watchers: [], functions: [], simulators: {} },
    };
    await folder.write('state.json', JSON.stringify(state));
    expect(await runHere(pauseCommand(), ['dinner', '--folder', folder.path])).toMatchObject({
      out: 'dinner is paused: its messages wait in dinner.fifo\n',
      status: 0,
    });
    expect([...paused]).toEqual([
      ['dinner.fifo', true],
      ['foo.fifo', false],
    ]);
    expect((await runHere(resumeCommand(), ['dinner', '--folder', folder.path])).status).toBe(0);
    expect(paused.get('dinner.fifo')).toBe(false);
    const headers = { origin: 'http://evil.example' };
    expect((await fetch(`${api.url}/2015-03-31/event-source-mappings`, { headers })).status).toBe(403);
  });
});

describe('pause errors', () => {
  it.each([
    ['an unknown controller', ['soup', '--stage', 'dev'], 'there is no controller "soup"; the controllers are'],
    ['an unknown stage', ['dinner', '--stage', 'none'], 'there is no queue outrigger-none-timers'],
    ['a folder in which nothing runs', ['dinner', '--folder', 'nowhere'], 'start outrigger dev, or name a deployment'],
    ['a controller without a function', ['ingredient', '--stage', 'dev'], 'outrigger doctor prints how to restore it'],
  ])('pause of %s prints one line with the next step, and exits with 1', async (_, argv, message) => {
    expectUserError(await runAt(pauseCommand, ...argv), message);
    expect(account.mappings).toEqual([mappingOf('dinner.fifo'), mappingOf('foo.fifo'), mappingOf('timers')]);
  });
});

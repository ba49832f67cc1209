// `outrigger doctor --stage` as a person runs it: its findings about queues, its fixes and its exit status. Functions
// and clusters are in doctor-clusters.test.ts.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  SetQueueAttributesCommand,
} from '@aws-sdk/client-sqs';
import { doctorCommand } from '@outrigger/cli/commands/doctor/doctor';
import { expectedQueues } from '@outrigger/cli/commands/doctor/expected-queues';
import { queuePolicy } from '@outrigger/cli/commands/doctor/queue-commands';
import { explainCommand, historyCommand } from '@outrigger/cli/commands/key-commands';
import { replayCommand } from '@outrigger/cli/commands/replay';
import { statusCommand } from '@outrigger/cli/commands/status/status';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import { registry } from '../../../src/controllers/registry.ts';
import { createSend } from '../../../src/sqs/send.ts';
import { expectUserError, runHere } from '../command-result.ts';
import {
  account,
  doctor,
  findings,
  most,
  onStage,
  prefix,
  queues,
  roles,
  senderId,
  serverUrl,
  setEntry,
  useDeployment,
} from './doctor-fixture.ts';

useDeployment();
const { signal } = new AbortController();
const urlOf = (name: string) => `${queues().urlPrefix}${prefix}${name}`;

/** Runs the command at the end of a fix in a shell, and returns its arguments for AWS. */
async function awsArguments(fix = '') {
  const [, command = ''] = /if it was (?:changed|deleted): (.*)$/s.exec(fix) ?? [];
  const { stdout } = await promisify(execFile)('/bin/sh', ['-euc', `aws() { printf '%s\\0' "$@"; }; ${command}`]);
  const words = stdout.split('\0');
  const after = (option: string) => words[words.indexOf(option) + 1];
  const attributes = z.record(z.string(), z.string()).parse(JSON.parse(after('--attributes') ?? ''));
  return { name: after('--queue-name'), attributes };
}

const unreachable = { server: 'https://127.0.0.1:9', access: { type: 'token', token: 'token' } };
const senderFindings = async () => (await findings()).all.filter(({ about }) => about === 'sender check');

describe('doctor', () => {
  it('doctor of a complete deployment finds nothing wrong, lists its checks, and exits with 0', async () => {
    const { all, bad, status } = await findings();
    expect(bad).toEqual([]);
    expect(status).toBe(0);
    const checked = new Set(all.map(({ about }) => about));
    const areas = ['alarms', 'credentials', 'node', 'queues', 'runs', 'concurrency'];
    expect(checked).toEqual(new Set([...areas, 'cluster berlin', 'sender check']));
    vi.stubEnv('HTTPS_PROXY', 'http://user:hunter2@127.0.0.1:9');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { out, err } = await doctor();
    // K16: once, without the address.
    expect(err).toMatch(/^HTTPS_PROXY is set and not used: [^@\n]+$/m);
    expect(out).toMatch(/^0 wrong, 0 warnings, \d+ ok$/m);
    expect(out).toContain(`up to ${most} functions run at once, the account has 1000 unreserved`);
  });

  // Control T61.
  it('doctor warns about a deployment whose functions do not check senders', async () => {
    account.senderCheck = 'off';
    const found = await senderFindings();
    account.senderCheck = 'on';
    const fix = 'deploy without SENDER_CHECK=off, unless the queues are emulated';
    expect(found).toMatchObject([{ state: 'warning', fix }]);
  });

  it.each([
    [0, /^arn:aws:sns:\S+:outrigger-dev-alarms has no subscriber; 1 wait to be confirmed$/, 'aws sns subscribe'],
    ['no alarms', /^there is none$/, '--param MONITORING=lean'],
    ['denied', /^it is not known whether they are received: .* 403 \(AccessDenied\)$/, 'sns:GetTopicAttributes'],
    [
      'unreachable',
      /^it is not known whether they are received: .*fetch failed$/,
      'check that this machine reaches it',
    ],
  ] as const)('doctor warns about alarms that are not received: %s', async (subscriptions, message, fix) => {
    account.subscriptions = subscriptions;
    const { all, status } = await findings();
    expect(all.find(({ about }) => about === 'alarms')).toEqual({
      about: 'alarms',
      state: 'warning',
      message: expect.stringMatching(message),
      fix: expect.stringContaining(fix),
    });
    expect(status).toBe(0);
  });

  // Control T59.
  it('doctor names the clusters whose entries name no watcher, with the command that fixes it', async () => {
    setEntry('berlin', unreachable);
    expect(await senderFindings()).toMatchObject([
      {
        state: 'warning',
        message: 'on, but any sender may send changes of berlin: their entries name no watcher',
        fix: 'outrigger clusters set-watcher NAME --watcher-role ARN --stage dev',
      },
    ]);
  });

  // Control T58.
  it('doctor names a watcher’s role that was made again, with the command that fixes it, and no role that was not', async () => {
    const arn = 'arn:aws:iam::000000000000:role/watcher';
    const foreign = { arn: 'arn:aws:iam::999999999999:role/watcher', id: 'AROAFOREIGN00000' };
    const withWatcher = async (watcher: object) => {
      setEntry('berlin', { ...unreachable, watchers: [watcher] });
      return await senderFindings();
    };
    roles().set(arn, 'AROASECOND000000');
    const message = `role ${arn} was made again: it is AROASECOND000000, and the entry of cluster berlin names AROAFIRST0000000`;
    expect(await withWatcher({ arn, id: 'AROAFIRST0000000' })).toEqual([
      {
        state: 'wrong',
        about: 'sender check',
        message: `${message}; its messages are refused`,
        fix: `outrigger clusters set-watcher berlin --watcher-role ${arn} --stage dev; then outrigger dlq redrive --stage dev`,
      },
    ]);
    const ok = { state: 'ok', about: 'sender check', message: 'on' };
    expect(await withWatcher({ arn, id: 'AROASECOND000000' })).toEqual([ok]);
    // The role of that name is this account's, and says nothing about another account's.
    expect(await withWatcher(foreign)).toMatchObject([
      { state: 'warning', message: expect.stringContaining('not a role of this account') },
    ]);
  });

  it('doctor names a watcher that sends by an id that its entry does not name, such as one of another account', async () => {
    const arn = 'arn:aws:iam::999999999999:role/watcher';
    const wrongWithId = async (id: string) => {
      setEntry('berlin', { ...unreachable, server: serverUrl(), watchers: [{ arn, id }] });
      return (await senderFindings()).filter(({ state }) => state === 'wrong');
    };
    expect(await wrongWithId(senderId)).toEqual([]);
    // The id is that of another cluster's watcher, which may not send for this one.
    setEntry('munich', { ...unreachable, watchers: [{ arn, id: senderId }] });
    onTestFinished(() => setEntry('munich', { access: { type: 'none' } }));
    expect(await wrongWithId('AROAFIRST0000000')).toMatchObject([
      {
        message: `cluster berlin: its watcher sends as ${senderId}, which its entry does not name; its messages are refused`,
        fix: expect.stringContaining(
          `outrigger clusters set-watcher berlin --watcher-role ARN --watcher-id ${senderId} --stage dev`,
        ),
      },
    ]);
  });

  it('D17: doctor names a function that is missing, was not updated, does not start or may not loop', async () => {
    const reason = 'no subnet';
    account.functions = {
      foo: null,
      dinner: { LastUpdateStatus: 'Failed', LastUpdateStatusReason: reason },
      timers: { RecursiveLoop: 'Terminate' },
      resync: { State: 'Failed', StateReason: reason },
    };
    const fix = 'if it was never deployed: npx osls deploy --stage dev';
    const named = '--function-name outrigger-dev-timers --recursive-loop Allow';
    const loop = `aws lambda put-function-recursion-config --region us-east-1 ${named}`;
    const { bad } = await findings();
    expect(bad.filter(({ about }) => about.startsWith('function '))).toEqual([
      { state: 'wrong', about: 'function dinner', message: 'its last update failed: no subnet', fix },
      { state: 'wrong', about: 'function foo', message: 'it does not exist', fix },
      {
        state: 'wrong',
        about: 'function timers',
        fix: loop,
        message: 'Lambda ends its requeues after 16 rounds (recursive loop detection)',
      },
      { state: 'wrong', about: 'function resync', message: 'it is Failed: no subnet', fix },
    ]);
  });

  it('with LOG_LEVEL=WARN how runs ended is not known, but for crashes, and replay --wait sends nothing', async () => {
    account.logLevel = 'WARN';
    const key = 'foo:berlin:foos.samples.example.com/default/x';
    const failed = JSON.stringify({
      message: 'reconciled',
      key,
      outcome: 'failed',
      error: 'over by now',
      durationMs: 9,
    });
    account.logs = { foo: [failed], dinner: ['2026-01-01T00:00:00Z 1 Task timed out after 60.00 seconds'] };
    const { bad } = await findings();
    expect(bad).toMatchObject([
      {
        state: 'wrong',
        about: 'function dinner',
        message: expect.stringContaining('crashing'),
        fix: expect.stringMatching(/^outrigger logs --stage dev and outrigger explain --stage dev have the lines/),
      },
      { state: 'warning', about: 'runs', message: expect.stringContaining('with LOG_LEVEL=WARN') },
    ]);
    const waiting = await onStage(replayCommand(), 'foo:default/x', '--cluster', 'berlin', '--wait');
    expectUserError(waiting, 'not sent: with LOG_LEVEL=WARN functions log no run that succeeds; leave out --wait');
    expect(queues().holds(`${prefix}foo.fifo`)).toBe(false);
    const { err, out } = await onStage(historyCommand(), 'foo:default/x', '--cluster', 'berlin');
    expect(err).toContain('with LOG_LEVEL=WARN functions log no run that succeeds');
    expect(out).toBe('no reconcile is logged in this time; see --since\n');
    const status = JSON.parse((await onStage(statusCommand(), '--json')).out);
    expect(status.functions).toContainEqual(expect.objectContaining({ name: 'foo', state: 'not known' }));
    expect(status).not.toHaveProperty('slowest');
    const explained = await onStage(explainCommand(), 'foo');
    expect(explained.out).toContain('missed: not known');
    expect(explained.out).toContain('how long its runs take is not known');
  });

  it('D17: doctor names a schedule that is missing, disabled or unknown', async () => {
    const scheduled = async (state: 'DISABLED' | 403 | 404) => {
      account.schedule = state;
      return (await findings()).bad.filter(({ about }) => about === 'schedule');
    };
    expect(await scheduled('DISABLED')).toMatchObject([
      { state: 'wrong', message: expect.stringContaining('is disabled: the resync does not run') },
    ]);
    const [missing, ...more] = await scheduled(404);
    expect(more).toEqual([]);
    expect(missing).toMatchObject({
      message: 'there is no schedule outrigger-dev-resync: the resync does not run',
      fix: expect.stringContaining('aws scheduler create-schedule --region us-east-1 --name outrigger-dev-resync'),
    });
    expect(await scheduled(403)).toMatchObject([
      { state: 'warning', fix: expect.stringContaining('allow scheduler:GetSchedule') },
    ]);
  });

  it('doctor expects the deployed attributes of the queues of timers, resync and each controller', async () => {
    const expected = expectedQueues(registry);
    const of = (name: string) => expected.find((one) => one.name === name);
    expect(of('foo.fifo')?.attributes).toMatchObject({ FifoQueue: 'true', VisibilityTimeout: '180' });
    // Throttles are receives: a key that Lambda never tried waits until it can.
    expect(of('foo.fifo')?.deadLetters).toEqual({ name: 'foo-dlq.fifo', maxReceiveCount: 960 });
    expect(of('timers')?.attributes).toMatchObject({ VisibilityTimeout: '180' });
    // A requeue waits until the function runs again: a dead letter ends its chain.
    expect(of('timers')?.deadLetters).toEqual({ name: 'timers-dlq', maxReceiveCount: 1_000 });
    expect(of('resync')?.deadLetters).toEqual({ name: 'resync-dlq', maxReceiveCount: 3 });
    expect(expected).toHaveLength(2 * registry.length + 4);
  });

  it('doctor names a changed attribute and a missing redrive policy, and prints the commands that set them', async () => {
    const set = async (attributes: Record<string, string>) =>
      await queues().sqs.send(new SetQueueAttributesCommand({ QueueUrl: urlOf('foo.fifo'), Attributes: attributes }));
    await set({ VisibilityTimeout: '30', RedrivePolicy: '' });
    const { bad, status } = await findings();
    const fix = expect.stringMatching(/^if it was never deployed: npx osls deploy --stage dev; if it was changed: /);
    const wrong = { state: 'wrong', about: 'queue foo.fifo', fix };
    expect(bad).toEqual([
      { ...wrong, message: 'VisibilityTimeout is 30, the deployment has 180' },
      { ...wrong, message: expect.stringContaining('its dead letters go nowhere') },
    ]);
    expect(status).toBe(1);
    for (const finding of bad) await set((await awsArguments(finding.fix)).attributes);
    expect((await findings()).bad).toEqual([]);
  });

  it('doctor accepts the queue of a function that a stage gives another timeout, with the receives that fit it', async () => {
    const set = async (VisibilityTimeout: string, maxReceiveCount: number) => {
      const deadLetterTargetArn = `arn:aws:sqs:us-east-1:000000000000:${urlOf('foo-dlq.fifo').split('/').at(-1)}`;
      const Attributes = { VisibilityTimeout, RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount }) };
      await queues().sqs.send(new SetQueueAttributesCommand({ QueueUrl: urlOf('foo.fifo'), Attributes }));
    };
    for (const [timeoutSeconds, receives] of [
      [60, 480],
      [20, 1_000],
    ] as const) {
      account.timeoutSeconds = timeoutSeconds;
      await set(String(6 * timeoutSeconds), receives);
      expect((await findings()).bad).toEqual([]);
    }
    await set('90', 3);
    expect((await findings()).bad).toMatchObject([
      { message: 'VisibilityTimeout is 90, the deployment has 120' },
      { message: expect.stringMatching(/-foo-dlq.fifo after 3, the deployment has .*after 1000$/) },
    ]);
    account.timeoutSeconds = 'denied';
    await set('360', 480);
    const unread = { state: 'warning', message: expect.stringContaining('timeout of its function cannot be read') };
    const unknown = { state: 'warning', about: 'function foo', message: 'its state is not known', fix: 'not you' };
    expect((await findings()).bad).toMatchObject([unread, unknown]);
    await set('360', 3);
    const other = { state: 'wrong', message: expect.stringContaining('-foo-dlq.fifo after 3, the') };
    expect((await findings()).bad).toMatchObject([unread, other, unknown]);
    delete account.timeoutSeconds;
    await set('180', 960);
    expect((await findings()).bad).toEqual([]);
  });

  it('doctor names deleted queues, and prints the commands that create them, in the right order', async () => {
    for (const name of ['foo.fifo', 'foo-dlq.fifo'])
      await queues().sqs.send(new DeleteQueueCommand({ QueueUrl: urlOf(name) }));
    const { bad, status } = await findings();
    const gone = { state: 'wrong', message: 'it does not exist' };
    expect(bad).toMatchObject([
      { ...gone, about: 'queue foo-dlq.fifo' },
      { ...gone, about: 'queue foo.fifo' },
    ]);
    expect(status).toBe(1);
    const { err } = await onStage(statusCommand());
    expect(err).toMatch(/^foo: its queues .*; outrigger doctor --stage dev prints the command that creates it again$/m);
    for (const { fix } of bad) {
      const { name, attributes } = await awsArguments(fix);
      await queues().sqs.send(new CreateQueueCommand({ QueueName: name ?? '', Attributes: attributes }));
    }
    expect((await findings()).bad).toEqual([]);
  });

  it('doctor names a queue without a policy that denies plain HTTP, and its command sets one', async () => {
    const QueueUrl = urlOf('foo.fifo');
    await queues().sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: { Policy: '' } }));
    const { bad, status } = await findings();
    const message = 'its policy does not deny plain HTTP';
    expect(bad).toMatchObject([{ state: 'warning', about: 'queue foo.fifo', message }]);
    expect(status).toBe(0);
    const { attributes } = await awsArguments(bad[0]?.fix);
    await queues().sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: attributes }));
    expect((await findings()).bad).toEqual([]);
  });

  it('doctor finds a deployment whose timers queue was deleted, and its command creates the queue again', async () => {
    await queues().sqs.send(new DeleteQueueCommand({ QueueUrl: urlOf('timers') }));
    account.queueUrlPrefix = urlOf('');
    const { bad } = await findings();
    expect(bad).toMatchObject([{ state: 'wrong', about: 'queue timers', message: 'it does not exist' }]);
    const { name = '', attributes } = await awsArguments(bad[0]?.fix);
    await queues().sqs.send(new CreateQueueCommand({ QueueName: name, Attributes: attributes }));
    delete account.queueUrlPrefix;
    expect((await findings()).bad).toEqual([]);
  });

  it('doctor gives a queue that is gone or has another policy the senders of WATCHER_ROLES that the others have', async () => {
    const { sqs } = queues();
    const set = async (name: string, attributes: Record<string, string>) =>
      await sqs.send(new SetQueueAttributesCommand({ QueueUrl: urlOf(name), Attributes: attributes }));
    const Principal = { AWS: ['arn:aws:iam::210987654321:role/watcher'] };
    const senders = [{ Effect: 'Allow', Principal, Action: ['sqs:SendMessage'], Resource: '*' }];
    const keyed = expectedQueues(registry).filter(({ takesKeys }) => takesKeys === true);
    const plain = (name: string) => ({ Policy: queuePolicy(urlOf(''), keyed.find((one) => one.name === name) ?? {}) });
    for (const queue of keyed) await set(queue.name, { Policy: queuePolicy(urlOf(''), queue, { senders }) });
    await sqs.send(new DeleteQueueCommand({ QueueUrl: urlOf('foo.fifo') }));
    await set('dinner.fifo', { Policy: '' });
    await set('timers', plain('timers'));
    const { bad } = await findings();
    expect(bad.map(({ about, message }) => `${about}: ${message}`).toSorted()).toEqual([
      'queue dinner.fifo: its policy does not deny plain HTTP',
      'queue foo.fifo: it does not exist',
      'queue timers: its policy does not let WATCHER_ROLES send to it',
    ]);
    for (const { about, fix } of bad) {
      const { name, attributes } = await awsArguments(fix);
      const queue = about.replace('queue ', '');
      if (name === `${prefix}foo.fifo`)
        await sqs.send(new CreateQueueCommand({ QueueName: name, Attributes: attributes }));
      else await set(queue, attributes);
      const { Attributes } = await sqs.send(
        new GetQueueAttributesCommand({ QueueUrl: urlOf(queue), AttributeNames: ['Policy'] }),
      );
      expect(JSON.parse(Attributes?.Policy ?? '').Statement).toContainEqual(senders[0]);
    }
    expect((await findings()).bad).toEqual([]);
    for (const { name } of keyed) await set(name, plain(name));
  });

  it('every command of outrigger and osls that doctor prints works on the stage and the region that it was asked for', async () => {
    account.mappings = [];
    account.functions = { foo: null };
    account.parameters = {};
    const { bad } = await findings('--region', 'us-east-1');
    const commands = bad.flatMap(({ fix = '' }) => (/osls deploy|outrigger [a-z]/.test(fix) ? [fix] : []));
    expect(commands.length).toBeGreaterThan(3);
    for (const fix of commands) expect(fix).toContain(' --stage dev --region us-east-1');
  });

  it('doctor reports dead letters as a warning, and exits with 0', async () => {
    const entry = { body: '{}', groupId: 'a', deduplicationId: 'a' };
    await createSend(queues().sqs, `${queues().urlPrefix}${prefix}`)('foo-dlq.fifo', [entry], { signal });
    const { bad, status } = await findings();
    expect(bad).toMatchObject([{ state: 'warning', about: 'queue foo-dlq.fifo', message: '1 dead letter' }]);
    expect(status).toBe(0);
    await queues().drain(`${prefix}foo-dlq.fifo`);
  });
});

describe('doctor errors', () => {
  const noFile = { AWS_SHARED_CREDENTIALS_FILE: '/nowhere', AWS_CONFIG_FILE: '/nowhere' };
  const noCredentials = { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined };
  it.each([
    [
      'without credentials',
      { ...noFile, ...noCredentials, AWS_EC2_METADATA_DISABLED: 'true', AWS_REGION: 'us-east-1' },
      /--stage dev: CredentialsProviderError: .*; sign in \(aws sso login\), or set AWS_PROFILE\n$/,
    ],
    [
      'without a region',
      { ...noFile, AWS_REGION: undefined },
      /--stage dev: Region is missing; name one with --region, or set AWS_/,
    ],
  ])('doctor %s prints one line with the next step, and exits with 1', async (_, env, line) => {
    const result = await runHere(doctorCommand(), ['--stage', 'dev'], env);
    expect(result.err).toMatch(/^outrigger doctor: .*\n$/);
    expect(result.err).toMatch(line);
    expect(result.status).toBe(1);
  });

  it('doctor of an unknown stage prints one line with the next step, and exits with 1', async () => {
    const result = await doctor('--stage', 'prod');
    const problem = 'there is no queue outrigger-prod-timers in this account and region; name another --stage';
    expectUserError(result, `outrigger doctor: --stage prod: ${problem}`);
    expect(result.out).toBe('');
  });
});

// `outrigger doctor --stage` as a person runs it: what it finds of queues, what it says to do, how it ends. Functions and clusters are in
// doctor-of-clusters.test.ts.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { CreateQueueCommand, DeleteQueueCommand, SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { expectedQueues } from '../../../src/cli/doctor/expected-queues.ts';
import { doctorCommand } from '../../../src/cli/doctor.ts';
import { registry } from '../../../src/controllers/registry.ts';
import { createSend } from '../../../src/queue/send.ts';
import { doctor, findings, most, prefix, queues, useDeployment } from './doctor-fixture.ts';
import { runHere } from '../operated-system.ts';

useDeployment();
const { signal } = new AbortController();
const urlOf = (name: string) => `${queues().urlPrefix}${prefix}${name}`;

/** What a shell makes of the command at the end of an advice. */
async function askedOfAws(fix = '') {
  const command = fix.slice(fix.lastIndexOf('since: ') + 'since: '.length);
  const { stdout } = await promisify(execFile)('/bin/sh', ['-euc', `aws() { printf '%s\\0' "$@"; }; ${command}`]);
  const words = stdout.split('\0');
  const after = (option: string) => words[words.indexOf(option) + 1];
  const attributes = z.record(z.string(), z.string()).parse(JSON.parse(after('--attributes') ?? ''));
  return { name: after('--queue-name'), attributes };
}

describe('doctor', () => {
  it('finds nothing wrong in a deployment as it should be, says what it looked at, and ends with 0', async () => {
    const { all, bad, status } = await findings();
    expect(bad).toEqual([]);
    expect(status).toBe(0);
    const looked = new Set(all.map(({ about }) => about));
    const areas = ['credentials', 'node', 'generated files', 'queues', 'concurrency', 'cluster berlin'];
    expect([...looked].sort()).toEqual(areas.sort());
    const { out } = await doctor();
    expect(out).toMatch(/^0 wrong, 0 to look at, \d+ ok$/m);
    expect(out).toContain(`${most} functions may run at once, the account has 1000 unreserved`);
  });

  it('knows the attributes that are deployed: those of timers and resync, and those of each controller', async () => {
    const expected = await expectedQueues(registry, '.');
    const of = (name: string) => expected.find((one) => one.name === name);
    expect(of('foo.fifo')?.attributes).toMatchObject({ FifoQueue: 'true', VisibilityTimeout: '180' });
    expect(of('foo.fifo')?.deadLetters).toEqual({ name: 'foo-dlq.fifo', maxReceiveCount: 10 });
    expect(of('timers')?.attributes).toMatchObject({ VisibilityTimeout: '180' });
    expect(of('resync')?.deadLetters).toEqual({ name: 'resync-dlq', maxReceiveCount: 3 });
    expect(expected).toHaveLength(2 * registry.length + 4);
  });

  it('names an attribute that differs and a redrive policy that is gone, and says what deploys them', async () => {
    const set = async (attributes: Record<string, string>) =>
      await queues().sqs.send(new SetQueueAttributesCommand({ QueueUrl: urlOf('foo.fifo'), Attributes: attributes }));
    await set({ VisibilityTimeout: '30', RedrivePolicy: '' });
    const { bad, status } = await findings();
    const advice = expect.stringMatching(
      /^what was never deployed: npx osls deploy --stage dev; one that was changed since: /,
    );
    expect(bad).toEqual([
      {
        state: 'wrong',
        about: 'queue foo.fifo',
        says: 'VisibilityTimeout is 30, the deployment says 180',
        fix: advice,
      },
      {
        state: 'wrong',
        about: 'queue foo.fifo',
        says: expect.stringContaining('its dead letters go nowhere'),
        fix: advice,
      },
    ]);
    expect(status).toBe(1);
    for (const { fix } of bad) await set((await askedOfAws(fix)).attributes);
    expect((await findings()).bad).toEqual([]);
  });

  it('names queues that are gone, and prints the commands, in their order, after which nothing is wrong', async () => {
    for (const name of ['foo.fifo', 'foo-dlq.fifo'])
      await queues().sqs.send(new DeleteQueueCommand({ QueueUrl: urlOf(name) }));
    const { bad, status } = await findings();
    const gone = { state: 'wrong', says: 'it is not there' };
    expect(bad).toMatchObject([
      { ...gone, about: 'queue foo-dlq.fifo' },
      { ...gone, about: 'queue foo.fifo' },
    ]);
    expect(status).toBe(1);
    for (const { fix } of bad) {
      const { name, attributes } = await askedOfAws(fix);
      await queues().sqs.send(new CreateQueueCommand({ QueueName: name ?? '', Attributes: attributes }));
    }
    expect((await findings()).bad).toEqual([]);
  });

  it('only points at dead letters: somebody should look, nothing is broken', async () => {
    const letter = { body: '{}', groupId: 'a', deduplicationId: 'a' };
    await createSend(queues().sqs, `${queues().urlPrefix}${prefix}`)('foo-dlq.fifo', [letter], { signal });
    const { bad, status } = await findings();
    expect(bad).toMatchObject([{ state: 'warning', about: 'queue foo-dlq.fifo', says: '1 dead letters' }]);
    expect(status).toBe(0);
    await queues().drain(`${prefix}foo-dlq.fifo`);
  });
});

describe('a mistake is one line that says what to do, and exit status 1:', () => {
  it('a stage that does not exist', async () => {
    const { err, out, status } = await doctor('--stage', 'prod');
    expect(err).toBe(
      'outrigger doctor: --stage prod: there is no queue outrigger-prod-timers in this account and region; name another --stage or --region, or deploy this one\n',
    );
    expect(out).toBe('');
    expect(status).toBe(1);
  });

  it('no credentials', async () => {
    const nobody = {
      ...{ AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined, AWS_EC2_METADATA_DISABLED: 'true' },
      ...{ AWS_REGION: 'us-east-1', AWS_SHARED_CREDENTIALS_FILE: '/nowhere', AWS_CONFIG_FILE: '/nowhere' },
    };
    const { err, status } = await runHere(doctorCommand(), ['--stage', 'dev'], nobody);
    expect(err).toMatch(
      /^outrigger doctor: --stage dev: CredentialsProviderError: .*; sign in \(aws sso login\), or set AWS_PROFILE\n$/,
    );
    expect(status).toBe(1);
  });

  it('no region', async () => {
    const nowhere = { AWS_REGION: undefined, AWS_CONFIG_FILE: '/nowhere', AWS_SHARED_CREDENTIALS_FILE: '/nowhere' };
    const { err, status } = await runHere(doctorCommand(), ['--stage', 'dev'], nowhere);
    expect(err).toMatch(
      /^outrigger doctor: --stage dev: .*Region is missing; name one with --region, or set AWS_REGION\n$/,
    );
    expect(status).toBe(1);
  });
});

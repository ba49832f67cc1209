// The first deployment and the first month, as one run in an emulated account: `outrigger verify` finds a deployment
// whole, names what is then broken, and finds it whole again; a watcher of another account; what a deployment refuses;
// another region, behind a fence; and a removal. Excluded: what the account has after a deployment (deploy.test.ts).
import { execFile } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { CreateRoleCommand, GetRolePolicyCommand, IAMClient, PutRolePolicyCommand } from '@aws-sdk/client-iam';
import {
  CreateEventSourceMappingCommand,
  DeleteEventSourceMappingCommand,
  LambdaClient,
  ListEventSourceMappingsCommand,
} from '@aws-sdk/client-lambda';
import { CreateSecretCommand, PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { DeleteQueueCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { type ApiServer, startApiServer } from '@outrigger/apiserver';
import { build } from '@outrigger/cli/commands/build';
import { clustersCommand } from '@outrigger/cli/commands/clusters/clusters';
import { verifyCommand } from '@outrigger/cli/commands/verify/verify';
import { buildBundles } from '@outrigger/cli/dev/artifacts';
import { localRegion } from '@outrigger/cli/dev/lambda/account';
import { startWatchers } from '@outrigger/cli/dev/watchers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { Foo } from '../../src/controllers/foo.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { type Rule, startChaosProxy } from '../../tools/chaos/chaos-proxy.ts';
import { writeKubeconfig } from '../../tools/control-plane/kubeconfig.ts';
import type { CommandResult } from '../cli/command-result.ts';
import { install } from '../fleet/member.ts';
import { useFolder } from '../support/folder.ts';
import { replaceBetween } from '../support/replace-between.ts';
import { paramsOf, type ServiceFolder, sampleSettings, serviceFolder } from '../support/service-folder.ts';
import { type EmulatedAccount, startEmulatedAccount } from './emulated-account.ts';
import { type EmulatedStage, inRegion, openStage } from './emulated-stage.ts';
import { statementsOf } from './policy.ts';

const root = path.resolve(import.meta.dirname, '../..');
const stage = 'proof';
const prefix = `outrigger-${stage}-`;
const regions = { home: localRegion, next: 'eu-west-1' };
const secret = `outrigger/${stage}/clusters/munich`;
const roles = {
  admitted: 'arn:aws:iam::210987654321:role/watcher',
  unknown: 'arn:aws:iam::310987654321:role/watcher',
};
const params = paramsOf({ ...sampleSettings, SENDER_CHECK: 'off', WATCHER_ROLES: roles.admitted });
const everything = new AsyncDisposableStack();
const folder = useFolder({ shared: true });

let aws: EmulatedAccount;
let service: ServiceFolder;
let server: ApiServer;
let client: KubeClient;
let home: EmulatedStage;
/** The ARNs of roles for which the cluster berlin, which is in EKS, has an access entry. */
const accessEntries = new Set<string>();
/** What berlin let in, and what it refused, since the last look: `region verb`. */
let admitted: string[] = [];
let refused: string[] = [];
let berlin: object;
let munich: object;

/** The authenticator of EKS, as far as a fence needs it: whose token it is. */
const authenticate: Rule = ({ method, headers }) => {
  const [, encoded = ''] = /^Bearer k8s-aws-v1\.(.+)$/.exec(headers.authorization ?? '') ?? [];
  const given = new URLSearchParams(Buffer.from(encoded, 'base64url').toString().split('?')[1]);
  const [name] = given.get('X-Amz-Credential')?.split('/') ?? [];
  const region = given.get('X-Amz-Security-Token');
  if (accessEntries.has(`arn:aws:iam::${aws.accountId}:role/${name}-${region}`)) {
    admitted.push(`${region} ${method}`);
    return undefined;
  }
  refused.push(`${region} ${method}`);
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Unauthorized', code: 401 };
  return { type: 'respond', status: 401, body: JSON.stringify(status) };
};

/** Runs commands for a shell, in which EKS has the access entries of this file. */
async function inShell(script: string): Promise<void> {
  await folder.write('calls', '');
  await promisify(execFile)('/bin/sh', ['-euc', script], { env: { PATH: `${folder.path}:/usr/bin:/bin` } });
  for (const line of (await folder.read('calls')).split('\n')) {
    const [, verb, arn = ''] = /^eks (\w+)-access-entry .*--principal-arn (\S+)$/.exec(line) ?? [];
    if (verb === 'create') accessEntries.add(arn);
    if (verb === 'delete') accessEntries.delete(arn);
  }
}

beforeAll(async () => {
  const signal = AbortSignal.timeout(400_000);
  [aws, service, server] = await Promise.all([startEmulatedAccount(localRegion), serviceFolder(), startApiServer()]);
  everything.defer(() => aws.close());
  everything.defer(() => service.remove());
  everything.defer(() => server.close());
  client = createClient({ server: new URL(server.url) });
  everything.defer(() => client.close());
  await buildBundles(build, root, signal);
  await install({ server: new URL(server.url) }, root, signal);
  const arn = `arn:aws:iam::${aws.accountId}:role`;
  const answers = `case "$1" in lambda) echo "${arn}/$6-$4";; iam) echo "${arn}/$4";; esac`;
  await folder.write('aws', `#!/bin/sh\necho "$*" >> "${folder.at('calls')}"\n${answers}\n`);
  await chmod(folder.at('aws'), 0o755);
  await writeKubeconfig(folder.at('kubeconfig'), server.url);
  const proxy = await startChaosProxy({ url: server.url });
  everything.defer(() => proxy.close());
  proxy.rule(authenticate);
  berlin = { server: proxy.url, access: { type: 'eks', cluster: 'berlin', region: 'eu-central-1' } };
  munich = { server: server.url, access: { type: 'secret', secret, holds: 'token', maxAgeSeconds: 1 } };
  await folder.write('prod-1.json', JSON.stringify(berlin));
  await folder.write('clusters.json', JSON.stringify({ berlin }));
  home = await openStage(everything, { aws, service, stage, params });
  await new SecretsManagerClient(aws.client).send(new CreateSecretCommand({ Name: secret, SecretString: 'a-token' }));
  await home.setTable(new Map(Object.entries({ berlin, munich })));
  await home.schedule('POST');
  const access = ['access', 'berlin', '--stage', stage, '--region', regions.home];
  await inShell((await home.run(clustersCommand(), access)).out);
}, 480_000);
afterAll(async () => await everything.disposeAsync());

const verify = async (...argv: readonly string[]) =>
  await home.run(verifyCommand(), ['--stage', stage, '--timeout', '40', ...argv]);

const latency =
  'about 54 ms from a change to its status: 30 ms from queue to function (at most 61 ms), and two requests of 12 ms';

/** Expects an output on the page, with other figures. Writes it if the variable WRITE_DOCS is set. */
async function expectDocumented(name: 'verify-whole' | 'verify-broken', out: string): Promise<void> {
  const file = 'docs/run/verify.md';
  const shown = out
    .replaceAll(/answered after .* MB$/gm, 'answered after 0.6 s, by timers again after 6.1 s, 88 MB')
    .replaceAll(/within \d+ ms$/gm, 'within 60 ms')
    .replaceAll(/about \d+ ms from .*$/gm, latency);
  const text = await readFile(file, 'utf8');
  const written = replaceBetween(text, `\`\`\`text\n${shown}\`\`\``, { file, name });
  if (process.env.WRITE_DOCS !== undefined) await writeFile(file, written);
  else expect(text).toBe(written);
}

describe('verify', () => {
  it('a whole deployment answers on every route, from every cluster, and exits with 0', async () => {
    const { out, err, status } = await verify();
    expect(out).toMatch(/\n0 wrong, 0 warnings, \d+ ok\n$/);
    expect(status).toBe(0);
    expect(err).toContain('not seen: watchers');
    await expectDocumented('verify-whole', out);
  });

  it('no message of it is left on any queue, dead-letter queues included', async () => {
    const names = home.queues.map(({ name }) => name.slice(prefix.length));
    expect(await Promise.all(names.map(home.depth))).toEqual(names.map(() => 0));
  });

  it('a role without SendMessage, a wrong secret, an unreachable cluster, a missing mapping, a recursion setting and an absent schedule are named in a line each', async () => {
    const { secrets, lambda, mapping } = await partsToBreak();
    const foo = home.principals.get(`${prefix}foo`) ?? { arn: '', statements: [] };
    const statements = foo.statements.filter(({ Action }) => !Action.includes('sqs:SendMessage'));
    home.principals.set(`${prefix}foo`, { ...foo, statements });
    await secrets.send(new PutSecretValueCommand({ SecretId: secret, SecretString: 'not a token' }));
    const oslo = { server: 'http://127.0.0.1:9', access: { type: 'none' } };
    await home.setTable(new Map(Object.entries({ berlin, munich, oslo })));
    await lambda.send(new DeleteEventSourceMappingCommand({ UUID: mapping?.UUID }));
    home.terminated.add(`${prefix}timers`);
    await home.schedule('DELETE');
    await home.lambda.reload();

    const { out, status } = await verify();
    expect(status).toBe(1);
    // What is well is in the other output.
    await expectDocumented('verify-broken', out.slice(out.indexOf('wrong ')));
    const wrong = out.split('\n').flatMap((line, index, lines) => {
      return line.startsWith('wrong') ? [`${line.replaceAll(/ +/g, ' ')} ${lines[index + 1]?.trim()}`] : [];
    });
    expect(wrong.toSorted()).toEqual([
      expect.stringMatching(/^wrong cluster munich .*, resync: .*token.* → .*outrigger doctor --stage proof --cluster/),
      expect.stringMatching(/^wrong cluster oslo .*, resync: .*ECONNREFUSED.* → .* its entry, secret and network/),
      expect.stringMatching(
        /^wrong function foo foo cannot send to timers: AccessDenied.* → .* sqs:SendMessage on timers/,
      ),
      expect.stringMatching(/^wrong function of dinner\.fifo no function receives .* → .*docs\/run\/recover\.md$/),
      expect.stringMatching(/^wrong function timers Lambda ends its requeues after 16 rounds .* → aws lambda put-/),
      expect.stringMatching(/^wrong schedule there is no schedule outrigger-proof-resync: .* → .*create-schedule/),
    ]);

    home.principals.set(`${prefix}foo`, foo);
    await secrets.send(new PutSecretValueCommand({ SecretId: secret, SecretString: 'a-token' }));
    home.terminated.clear();
    await home.schedule('POST');
    const { EventSourceArn, FunctionResponseTypes, ScalingConfig } = mapping ?? {};
    const again = { EventSourceArn, FunctionResponseTypes, ScalingConfig, FunctionName: `${prefix}dinner` };
    await lambda.send(new CreateEventSourceMappingCommand(again));
  });

  it('a deleted table, a deleted queue and a function that does not answer are named in a line each, and whole again after repairs', async () => {
    const QueueUrl = `${home.urlPrefix}ingredient.fifo`;
    const timers = home.stack.mappings.filter(({ queueArn }) => queueArn.endsWith(`:${prefix}timers`));
    const restoreTable = await home.deleteTable();
    await home.sqs.send(new DeleteQueueCommand({ QueueUrl }));
    await home.lambda.mappings.find(({ queueArn }) => queueArn === timers[0]?.queueArn)?.stop();
    await home.lambda.reload();
    const { out, status } = await verify('--json', '--timeout', '20');
    expect(status).toBe(1);
    const finding = z.object({ state: z.string(), about: z.string(), message: z.string(), fix: z.string().optional() });
    const findings = z.array(finding).parse(JSON.parse(out));
    const deleted = 'it was deleted: outrigger doctor --stage proof prints the command that creates it again';
    expect(findings.filter(({ state }) => state !== 'ok')).toEqual([
      {
        state: 'wrong',
        about: 'function timers',
        message: expect.stringMatching(/^it has not answered what water-tank, .*, wake sent within 20 s$/),
        fix: expect.stringContaining('the log of timers'),
      },
      {
        state: 'wrong',
        about: 'function ingredient',
        fix: deleted,
        message: expect.stringMatching(/^nothing can be sent to it: queue ingredient\.fifo does not exist/),
      },
      {
        state: 'wrong',
        about: 'clusters',
        message: expect.stringMatching(
          /^the table cannot be read by water-tank, dinner, .*, resync: .*s3:\/\/.*(was deleted|does not exist)/,
        ),
        fix: expect.stringContaining('outrigger clusters add --stage proof'),
      },
    ]);

    await restoreTable();
    await home.setTable(new Map(Object.entries({ berlin, munich })));
    home.lambda.add({ functions: [], mappings: timers }, await home.createQueues());
    await home.lambda.reload();
    expect((await verify()).out).toMatch(/\n0 wrong, 0 warnings, \d+ ok\n$/);
  });
});

async function partsToBreak() {
  const lambda = new LambdaClient(aws.client);
  const { EventSourceMappings = [] } = await lambda.send(new ListEventSourceMappingsCommand({}));
  const mapping = EventSourceMappings.find(({ EventSourceArn }) => EventSourceArn?.endsWith('-dinner.fifo'));
  return { secrets: new SecretsManagerClient(aws.client), lambda, mapping };
}

const applyFoo = async (replicas: number) => {
  const spec = { deploymentName: 'one', replicas };
  const foo = { apiVersion: 'samples.example.com/v1', kind: 'Foo', metadata: { name: 'one', namespace: 'default' } };
  await applyObject(client, Foo, { ...foo, spec }, { fieldManager: 'user' });
};
const observed = async (): Promise<unknown> => {
  const { status = {} } = (await getObject(client, Foo, { namespace: 'default', name: 'one' })) ?? {};
  return Object(status).observedGeneration;
};

/** Runs a watcher of berlin as a role of another account, with the policy of the page; its log. */
async function runWatcher(on: EmulatedStage, arn: string) {
  const credentials = await assume(arn);
  const iam = new IAMClient({ ...aws.client, credentials });
  const name = { RoleName: 'watcher', PolicyName: 'watcher' };
  const trust = JSON.stringify({ Version: '2012-10-17', Statement: [] });
  await iam.send(new CreateRoleCommand({ ...name, AssumeRolePolicyDocument: trust })).catch(() => undefined);
  const document = { Version: '2012-10-17', Statement: on.principals.get('watcher')?.statements };
  await iam.send(new PutRolePolicyCommand({ ...name, PolicyDocument: JSON.stringify(document) }));
  const { PolicyDocument = '' } = await iam.send(new GetRolePolicyCommand(name));
  const statements = statementsOf(JSON.parse(decodeURIComponent(PolicyDocument)));
  on.principals.set(credentials.accessKeyId, { arn, statements });
  const lines: string[] = [];
  const watchers = startWatchers(
    {
      file: path.join(root, 'dist/watcher/index.mjs'),
      environment: {
        ...on.environment,
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
        AWS_SESSION_TOKEN: credentials.sessionToken,
        QUEUE_URL_PREFIX: on.urlPrefix,
        CLUSTER: 'berlin',
        KUBECONFIG: folder.at('kubeconfig'),
        HOST: '127.0.0.1',
        PORT: '0',
      },
      onEvent: (event) => void ('text' in event && lines.push(event.text)),
    },
    1,
  );
  everything.defer(() => watchers.stop());
  return { lines, stop: () => watchers.stop() };
}

/** The credentials of a role, of the role's account: moto tells accounts apart by the keys that its STS gives out. */
async function assume(RoleArn: string) {
  const authorization = `AWS4-HMAC-SHA256 Credential=anyone/20260101/${aws.region}/sts/aws4_request`;
  const body = new URLSearchParams({ Action: 'AssumeRole', Version: '2011-06-15', RoleArn, RoleSessionName: 'one' });
  const answer = await fetch(aws.client.endpoint, { method: 'POST', headers: { authorization }, body });
  const text = await answer.text();
  const part = (name: string) => new RegExp(`<${name}>(.*?)</${name}>`).exec(text)?.[1] ?? '';
  return {
    accessKeyId: part('AccessKeyId'),
    secretAccessKey: part('SecretAccessKey'),
    sessionToken: part('SessionToken'),
  };
}

describe('a watcher of another account', () => {
  it('D4: a role that the deployment does not name is refused, and the log has the remedy; no key arrives', async () => {
    await applyFoo(1);
    const { lines, stop } = await runWatcher(home, roles.unknown);
    await expect.poll(() => lines.join('\n')).toContain('name a role of another account in WATCHER_ROLES');
    await expect.poll(() => lines.join('\n')).toContain('keys not sent, retrying');
    expect(await home.depth('foo.fifo')).toBe(0);
    expect(await observed()).toBeUndefined();
    await stop();
  });

  it('D4: the keys of a role that the deployment names arrive, and are reconciled', async () => {
    const { lines } = await runWatcher(home, roles.admitted);
    await expect.poll(observed).toBe(1);
    await expect.poll(() => lines.join('\n')).toMatch(/"sends as".*:210987654321:|:210987654321:.*"sends as"/);
  });

  it('a role that the deployment names writes no dead letter, which a redrive would send on, and no list of the resync', async () => {
    const statements = [{ Effect: 'Allow' as const, Action: ['sqs:*'], Resource: ['*'] }];
    home.principals.set('another-account', { arn: roles.admitted, statements });
    const credentials = { accessKeyId: 'another-account', secretAccessKey: 'x' };
    const sqs = new SQSClient({
      region: aws.region,
      endpoint: home.environment.AWS_ENDPOINT_URL_SQS ?? '',
      credentials,
    });
    onTestFinished(() => sqs.destroy());
    const send = async (queue: string) =>
      await sqs.send(new SendMessageCommand({ QueueUrl: `${home.urlPrefix}${queue}`, MessageBody: 'one' }));
    for (const queue of ['foo-dlq.fifo', 'timers-dlq', 'resync', 'resync-dlq'])
      await expect(send(queue), queue).rejects.toThrow('no sqs:SendMessage');
  });
});

describe('a deployment that forgets', () => {
  const refusal = async (...given: readonly string[]) => {
    const { status, output } = await service.osls(
      ['deploy', '--stage', stage, '--region', aws.region, ...given],
      aws.environment,
    );
    expect(status).toBe(1);
    return output;
  };

  it('D3: without the options of the former deployment nothing is deployed, and their values are named', async () => {
    expect(await refusal(...paramsOf(sampleSettings))).toContain(
      `the stack was deployed with SENDER_CHECK=off WATCHER_ROLES=${roles.admitted}, and this deployment does not say so`,
    );
  });

  it('D10: the queue of a removed controller is kept while it has messages', async () => {
    const QueueUrl = `${aws.client.endpoint}/${aws.accountId}/${prefix}foo.fifo`;
    const sqs = new SQSClient({ ...aws.client, useQueueUrlAsEndpoint: false });
    const fifo = { MessageGroupId: 'one', MessageDeduplicationId: 'one' };
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'one', ...fifo }));
    const registry = path.join(service.folder, 'src/controllers/registry.ts');
    const before = await readFile(registry, 'utf8');
    onTestFinished(async () => await writeFile(registry, before));
    const without = "export const registry = all.filter(({ name }) => name !== 'foo');\n";
    await writeFile(
      registry,
      before.replace(/^export \{ registry as registry \}/, 'import { registry as all }') + without,
    );
    expect(await refusal(...params)).toContain(
      `controller foo: is not in this deployment, which would delete its queue ${prefix}foo.fifo with 1 messages`,
    );
  });
});

describe('another region', () => {
  /** Runs a command of the page, where stage, cluster, regions and files have other names. */
  async function asOnPage(on: EmulatedStage, argv: readonly string[]): Promise<CommandResult> {
    const names: Readonly<Record<string, string>> = {
      [stage]: 'prod',
      berlin: 'prod-1',
      [regions.home]: 'eu-central-1',
      [regions.next]: 'eu-west-1',
      ...Object.fromEntries(['clusters.json', 'prod-1.json'].map((name) => [folder.at(name), name])),
    };
    const [name = '', ...rest] = argv;
    const command = `npx outrigger ${[name, ...rest.map((part) => names[part] ?? part)].join(' ')}`;
    expect(await readFile('docs/run/recover.md', 'utf8')).toContain(command);
    const result = await on.run(name === 'verify' ? verifyCommand() : clustersCommand(), rest);
    expect(result).toMatchObject({ status: 0 });
    return result;
  }

  it('D19: behind the fence no function of the former region changes a cluster, and the next region goes on with every change', async () => {
    const at = (region: string) => ['--stage', stage, '--region', region];
    const table = ['--table', folder.at('clusters.json')];
    await inShell((await asOnPage(home, ['clusters', 'access', ...at(regions.home), ...table, '--revoke'])).out);
    expect([...accessEntries]).toEqual([]);
    [admitted, refused] = [[], []];
    await applyFoo(2);
    await expect.poll(() => refused.join('\n')).toContain(`${regions.home} GET`);
    expect(await observed()).toBe(1);

    const next = await openStage(everything, { aws: inRegion(aws, regions.next), service, stage, params });
    await next.schedule('POST');
    await asOnPage(next, ['clusters', 'add', 'berlin', folder.at('prod-1.json'), ...at(regions.next)]);
    await inShell((await asOnPage(next, ['clusters', 'access', ...at(regions.next)])).out);
    await runWatcher(next, roles.admitted);
    await expect.poll(observed).toBe(2);
    expect(new Set(admitted.map((one) => one.split(' ')[0]))).toEqual(new Set([regions.next]));
    expect((await asOnPage(next, ['verify', ...at(regions.next)])).out).toMatch(/\n0 wrong, 0 warnings, \d+ ok\n$/);
  });
});

describe('a removal', () => {
  it('what is left on AWS is said', async () => {
    const args = ['remove', '--stage', stage, '--region', regions.home];
    const { status, progress } = await service.osls(args, aws.environment);
    expect(status).toBe(0);
    expect(progress).toMatch(
      /Left on AWS: s3:\/\/\S+\/clusters\.json, the secrets outrigger\/proof\/clusters\/\* and outrigger\/proof\/settings\/\*, /,
    );
  });
});

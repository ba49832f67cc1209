// Only the template that osls packages from serverless.yml and the generated resources: it needs no credentials, and
// the local system can resolve it. The bundles are stubs.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fleetWatcherStack } from '@outrigger/cli/aws/fleet-watcher';
import { readStack, type Stack } from '@outrigger/cli/dev/lambda/stack';
import { awsQueueBase, parseTemplate } from '@outrigger/cli/dev/lambda/template';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { registry } from '../../src/controllers/registry.ts';
import { readResyncSettings } from '../../src/settings.ts';
import { serviceFolder } from '../support/service-folder.ts';
import { devTemplate, packageTemplate } from './package-template.ts';

const key = 'arn:aws:kms:us-east-1:123456789012:key/0a1b2c3d';

let text: string;
let stack: Stack;

beforeAll(async () => {
  text = await devTemplate();
  const parameters = { PlantUrl: 'http://plant', PantryUrl: 'http://pantry' };
  stack = readStack(parseTemplate(text), { region: 'eu-central-1', accountId: '123456789012', parameters });
}, 240_000);

/**
 * The names that a template gives in an account: of resources that CloudFormation does not name, of exports, and the
 * namespaces of metrics in alarms, queries, the dashboard and the functions.
 */
function identities(template: string): ReadonlySet<string> {
  const { Resources, Outputs } = named.parse(JSON.parse(template));
  const found = new Set<string>();
  // A reference to another resource is no name of this one.
  for (const { Type, Properties = {} } of Object.values(Resources))
    for (const [property, value] of Object.entries(Properties))
      if (/(?<!Metric)Name$/.test(property) && !/"(Ref|Fn::GetAtt)"/.test(JSON.stringify(value)))
        found.add(`${Type} ${JSON.stringify(value)}`);
  for (const { Export } of Object.values(Outputs)) if (Export !== undefined) found.add(`export ${Export.Name}`);
  for (const [, namespace = ''] of template.matchAll(/[\\"]+([\w-]+\/[\w-]+)[\\"]+/g))
    if (!/^(AWS|application|service-role)\//.test(namespace)) found.add(`namespace ${namespace}`);
  return found;
}
const named = z.object({
  Resources: z.record(
    z.string(),
    z.object({ Type: z.string(), Properties: z.record(z.string(), z.unknown()).optional() }),
  ),
  Outputs: z.record(z.string(), z.object({ Export: z.object({ Name: z.string() }).optional() })),
});

describe('the packaged template', () => {
  it('the packaged template only uses the four intrinsic functions that the local system supports', () => {
    const used = new Set([...text.matchAll(/"(Fn::\w+|Ref)":/g)].map(([, name]) => name));
    expect([...used].sort()).toEqual(['Fn::GetAtt', 'Fn::Join', 'Fn::Sub', 'Ref']);
  });

  it('the resources of a former version keep their ids and names: with another id the name is taken, and a queue would lose its messages', async () => {
    const file = path.resolve(import.meta.dirname, '../compatibility/written-by-0.1.json');
    const { resources } = z
      .object({ resources: z.record(z.string(), z.string()) })
      .parse(JSON.parse(await readFile(file, 'utf8')));
    const { Resources } = named.parse(JSON.parse(text));
    const identityOf = (id: string) => {
      const { Type, Properties = {} } = Resources[id] ?? { Type: 'gone' };
      const names = Object.keys(Properties).filter((property) => /(?<!Metric)Name$/.test(property));
      const texts = names.map(
        (name) => z.object({ 'Fn::Sub': z.string() }).safeParse(Properties[name]).data?.['Fn::Sub'] ?? Properties[name],
      );
      return [Type, ...texts.filter((one) => typeof one === 'string')].join(' ');
    };
    expect(Object.fromEntries(Object.keys(resources).map((id) => [id, identityOf(id)]))).toEqual(resources);
  });

  it('the packaged template has no unresolved variable of osls', () => {
    expect(text.match(/\$\{(self|sls|opt|param|env|file)\b[^}]*\}/g)).toBeNull();
  });

  // Control T9.
  it('the scheduler’s role is this account’s alone, and may invoke one function and nothing else', () => {
    const { Resources } = parseTemplate(text);
    const [role, ...more] = Object.values(Resources).filter(
      ({ Type, Properties }) => Type === 'AWS::IAM::Role' && JSON.stringify(Properties).includes('scheduler.amazonaws'),
    );
    expect(more).toEqual([]);
    const { AssumeRolePolicyDocument, Policies, ManagedPolicyArns = [] } = Object(role?.Properties);
    expect(AssumeRolePolicyDocument.Statement).toEqual([
      {
        Effect: 'Allow',
        Principal: { Service: 'scheduler.amazonaws.com' },
        Action: 'sts:AssumeRole',
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      },
    ]);
    const [{ PolicyDocument }] = Policies;
    expect([Policies.length, PolicyDocument.Statement.length, ManagedPolicyArns]).toEqual([1, 1, []]);
    const resource = { 'Fn::Sub': expect.stringMatching(/:function:outrigger-dev-resync$/) };
    expect(PolicyDocument.Statement).toEqual([
      { Effect: 'Allow', Action: ['lambda:InvokeFunction'], Resource: resource },
    ]);
  });

  // Control T7.
  it('the timers function has no clusters table, and no permission but to its queues and one secret', () => {
    const { Resources } = parseTemplate(text);
    const { Variables } = Object(Resources.TimersLambdaFunction?.Properties).Environment;
    expect(Object.keys(Variables)).not.toContain('CLUSTERS');
    const { PolicyDocument } = Object(Resources.TimersRole?.Properties).Policies[0];
    const actions = PolicyDocument.Statement.flatMap(({ Action }: { Action: unknown }) => Action);
    expect([...new Set(actions)].filter((action) => !/^(sqs|logs):/.test(String(action)))).toEqual([
      'secretsmanager:GetSecretValue',
    ]);
  });

  // Control T77.
  it('the bucket of the clusters table is private, has versions, and denies plain HTTP', () => {
    const { ClustersBucket, ClustersBucketPolicy } = parseTemplate(text).Resources;
    expect(ClustersBucket?.Properties).toMatchObject({
      VersioningConfiguration: { Status: 'Enabled' },
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
    });
    const [statement, ...more] = Object(ClustersBucketPolicy?.Properties).PolicyDocument.Statement;
    expect(more).toEqual([]);
    const condition = { Bool: { 'aws:SecureTransport': expect.stringMatching('false') } };
    expect(statement).toMatchObject({ Effect: 'Deny', Principal: '*', Action: 's3:*', Condition: condition });
  });

  it.each(['on', 'null', 'outrigger'])('the stack of a fleet watcher names the project %s, as a text', (project) => {
    expect(Object(fleetWatcherStack(project)).Parameters.Project.Default).toBe(project);
  });

  // Control T78.
  it('every role reads the clusters table in this account alone: another one may make a deleted bucket again', async () => {
    const roles = Object.values(parseTemplate(text).Resources).filter(({ Type }) => Type === 'AWS::IAM::Role');
    const { TaskRole } = Object(Object(fleetWatcherStack('outrigger')).Resources);
    const reads = [...roles, TaskRole]
      .flatMap(({ Properties }) => Object(Properties).Policies ?? [])
      .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
      .filter(({ Action }) => JSON.stringify(Action).includes('s3:'));
    expect(reads.length).toBeGreaterThan(2 * registry.length);
    for (const { Condition } of reads)
      expect(Condition).toEqual({ StringEquals: { 'aws:ResourceAccount': { Ref: 'AWS::AccountId' } } });
  });

  // Control T83.
  it('a dead-letter queue accepts the messages of its own queue alone', () => {
    const allowed = Object.entries(parseTemplate(text).Resources).flatMap(([id, { Type, Properties }]) => {
      if (Type !== 'AWS::SQS::Queue') return [];
      const { RedriveAllowPolicy } = Object(Properties);
      return RedriveAllowPolicy === undefined ? [] : [[id, JSON.stringify(RedriveAllowPolicy)] as const];
    });
    expect(allowed).toHaveLength(registry.length + 2);
    for (const [id, policy] of allowed) {
      const source = stack.queues.find(({ name }) => policy.includes(`:${name}"`));
      expect(policy, id).toContain('"redrivePermission":"byQueue"');
      const letters = stack.queues.find(({ arn }) => arn === source?.deadLetters?.arn);
      expect(letters?.name.replaceAll('-', ''), id).toContain(id.replace('DeadLetters', '').toLowerCase());
    }
  });

  it.each([
    ['stages', async () => await packageTemplate('prod')],
    ['projects', async () => await packageTemplate('dev', [], { project: 'cafes' })],
  ])('two %s have no metric, resource name, alarm, log group, saved query, rule, schedule, export or parameter in common', async (_, packaged) => {
    const other = await packaged();
    const own = identities(text);
    for (const kind of [
      'AWS::SQS::Queue',
      'AWS::CloudWatch::Alarm',
      'AWS::Logs::QueryDefinition',
      'export',
      'namespace',
    ])
      expect([...own].filter((one) => one.startsWith(`${kind} `)).length, kind).toBeGreaterThan(0);
    expect(own).toContain('namespace outrigger/dev');
    const others = identities(other);
    expect([...own].filter((one) => others.has(one))).toEqual([]);
    // The prefixes of the clusters table and of secrets, in the policies of roles.
    const paths = (template: string) => new Set(template.match(/(?:parameter|secret:?)\/?[a-z]+\/[a-z]+\/[a-z*]+/g));
    expect(paths(text).size).toBeGreaterThan(0);
    expect([...paths(text)].filter((one) => paths(other).has(one))).toEqual([]);
  });

  it('names that an account has once for all regions have the region: roles, policies and the dashboard', () => {
    const { Resources } = parseTemplate(text);
    const names = Object.values(Resources).flatMap(({ Properties }) => {
      const { RoleName, ManagedPolicyName, DashboardName, BucketName } = Object(Properties);
      return [RoleName, ManagedPolicyName, DashboardName, BucketName].filter((name) => name !== undefined);
    });
    expect(names.length).toBeGreaterThan(registry.length + 2);
    for (const name of names) expect(JSON.stringify(name)).toMatch(/^\{"Fn::Sub":".*\$\{AWS::Region\}"\}$/);
  });

  it('the key policy of docs/parameters.md admits every AWS service that uses the key, and lets IAM admit the roles', async () => {
    const { Resources } = parseTemplate(await packageTemplate('dev', [`KMS_KEY_ARN=${key}`]));
    const encrypted = Object.values(Resources).filter(({ Properties }) => JSON.stringify(Properties).includes(key));
    // What is stored, and the permissions of roles. Another type may be used by another service: add it here.
    expect(new Set(encrypted.map(({ Type }) => Type))).toEqual(
      new Set([
        ...['AWS::SQS::Queue', 'AWS::S3::Bucket', 'AWS::SecretsManager::Secret', 'AWS::IAM::Role'],
        ...['AWS::IAM::ManagedPolicy', 'AWS::Lambda::Function', 'AWS::Logs::LogGroup', 'AWS::SNS::Topic'],
      ]),
    );
    const services = Object.values(Resources).flatMap(({ Type, Properties }) => {
      if (Type !== 'AWS::SQS::QueuePolicy') return [];
      const statements: readonly unknown[] = Object(Properties).PolicyDocument.Statement;
      return statements.flatMap((one) => Object(one).Principal.Service ?? []);
    });
    expect(services).toContain('events.amazonaws.com');
    const [, policy = '{"Statement":[]}'] =
      /## A KMS key of your own.*?```json\n(.*?)```/s.exec(await readFile('docs/parameters.md', 'utf8')) ?? [];
    const { Statement } = JSON.parse(policy);
    const account = { AWS: 'arn:aws:iam::123456789012:root' };
    expect(Statement).toContainEqual({ Effect: 'Allow', Principal: account, Action: 'kms:*', Resource: '*' });
    // CloudWatch, for the encrypted topic.
    const Service = [...new Set([...services, 'cloudwatch.amazonaws.com'])];
    const Action = ['kms:GenerateDataKey', 'kms:Decrypt'];
    expect(Statement).toContainEqual({ Effect: 'Allow', Principal: { Service }, Action, Resource: '*' });
    // CloudWatch Logs user guide, "Encrypt log data in CloudWatch Logs using AWS KMS".
    expect(Statement).toContainEqual(
      expect.objectContaining({ Principal: { Service: expect.stringMatching(/^logs\.[a-z0-9-]+\.amazonaws\.com$/) } }),
    );
  });

  it('every function has the prefix of its queues’ URLs', () => {
    const prefix = `${awsQueueBase('eu-central-1', '123456789012')}outrigger-dev-`;
    expect(stack.functions.map(({ environment }) => environment.QUEUE_URL_PREFIX)).toEqual(
      stack.functions.map(() => prefix),
    );
  });

  it('the collector of traces and its headers are in the reconcile functions alone, which send traces', () => {
    const knows = (name: string) => stack.functions.filter(({ environment }) => name in environment);
    const controllers = registry.map(({ name }) => `outrigger-dev-${name}`).toSorted();
    for (const name of ['ENDPOINT', 'HEADERS', 'HEADERS_SECRET'].map((end) => `OTEL_EXPORTER_OTLP_${end}`))
      expect(
        knows(name)
          .map((one) => one.name)
          .toSorted(),
        name,
      ).toEqual(controllers);
  });

  it('every queue’s visibility timeout is six times its function’s timeout, and batches can fail partially', () => {
    for (const { queueArn, functionArn, reportsFailures } of stack.mappings) {
      const { attributes } = stack.queues.find(({ arn }) => arn === queueArn) ?? {};
      const { timeoutSeconds = Infinity } = stack.functions.find(({ arn }) => arn === functionArn) ?? {};
      expect(Number(attributes?.VisibilityTimeout), queueArn).toBeGreaterThanOrEqual(6 * timeoutSeconds);
      expect(reportsFailures, queueArn).toBe(true);
    }
    // EventBridge alone calls the wake function.
    expect(stack.mappings).toHaveLength(stack.functions.filter(({ name }) => !name.endsWith('-wake')).length);
  });

  it('the resync schedule has the interval of its function’s setting', () => {
    const [tick, ...more] = stack.schedules;
    expect(more).toEqual([]);
    const resync = stack.functions.find(({ arn }) => arn === tick?.functionArn);
    expect(readResyncSettings(resync?.environment ?? {}).RESYNC_SCHEDULE_SECONDS).toBe(tick?.everySeconds);
  });
});

it.each([
  ['functions:\n  waterTank:\n    recursivLoop: Allow\n', "unrecognized property 'recursivLoop'"],
  ['params:\n  default:\n    MONITORNG: lean\n', 'params.default.MONITORNG: unknown parameter'],
  ['custom:\n  outrigger:\n    MONITORING: lean\n', 'custom.outrigger has no effect; write its options under params'],
])(
  'osls packages nothing if serverless.yml has what has no effect, and names it',
  async (text, problem) => {
    await using cleanup = new AsyncDisposableStack();
    const service = await serviceFolder();
    cleanup.defer(() => service.remove());
    await service.extend(text);
    const { status, output } = await service.osls(['package', '--stage', 'test']);
    expect([status, output]).toEqual([1, expect.stringContaining(problem)]);
    await expect(service.template()).rejects.toThrow('ENOENT');
  },
  120_000,
);

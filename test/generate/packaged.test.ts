// Only the template that osls packages from serverless.yml and the generated resources: it needs no credentials, and
// the local system can resolve it. The bundles are stubs.
import { beforeAll, describe, expect, it } from 'vitest';
import { registry } from '../../src/controllers/registry.ts';
import { controllerDeadLetterQueue, controllerQueue, resyncQueue, timersQueue } from '../../src/core/names.ts';
import { readStack, type Stack } from '../../src/dev/lambda/stack.ts';
import { awsQueueBase, parseTemplate } from '../../src/dev/lambda/template.ts';
import { packageTemplate } from './package-template.ts';

let text: string;
let stack: Stack;

beforeAll(async () => {
  text = await packageTemplate('test');
  const parameters = { PlantUrl: 'http://plant', PantryUrl: 'http://pantry' };
  stack = readStack(parseTemplate(text), { region: 'eu-central-1', accountId: '123456789012', parameters });
}, 120_000);

describe('the packaged template', () => {
  it('the packaged template only uses the four intrinsic functions that the local system supports', () => {
    const used = new Set([...text.matchAll(/"(Fn::\w+|Ref)":/g)].map(([, name]) => name));
    expect([...used].sort()).toEqual(['Fn::GetAtt', 'Fn::Join', 'Fn::Sub', 'Ref']);
  });

  it('the packaged template has no unresolved variable of osls', () => {
    expect(text.match(/\$\{(self|sls|opt|param|env|file)\b[^}]*\}/g)).toBeNull();
  });

  it('the packaged template has every queue of src/core/names.ts, and a dead-letter queue for each controller', () => {
    const prefix = 'outrigger-test-';
    for (const { name } of registry) {
      const queue = stack.queues.find((one) => one.name === `${prefix}${controllerQueue(name)}`);
      expect(queue?.deadLetters?.arn).toMatch(new RegExp(`:${prefix}${controllerDeadLetterQueue(name)}$`));
    }
    for (const name of [timersQueue, resyncQueue]) {
      expect(stack.queues.find((one) => one.name === `${prefix}${name}`)?.deadLetters).toBeDefined();
    }
  });

  it('the scheduler’s role is this account’s alone, and may invoke one function and nothing else', () => {
    const { Resources } = parseTemplate(text);
    const [role, ...more] = Object.values(Resources).filter(
      ({ Type, Properties }) => Type === 'AWS::IAM::Role' && JSON.stringify(Properties).includes('scheduler.amazonaws'),
    );
    expect(more).toEqual([]);
    const { AssumeRolePolicyDocument, Policies, ManagedPolicyArns = [] } = Object(role?.Properties);
    expect(AssumeRolePolicyDocument.Statement).toEqual([
      {
        ...{ Effect: 'Allow', Principal: { Service: 'scheduler.amazonaws.com' }, Action: 'sts:AssumeRole' },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      },
    ]);
    const [{ PolicyDocument }] = Policies;
    expect([Policies.length, PolicyDocument.Statement.length, ManagedPolicyArns]).toEqual([1, 1, []]);
    const resource = { 'Fn::Sub': expect.stringMatching(/:function:outrigger-test-resync$/) };
    expect(PolicyDocument.Statement).toEqual([
      { Effect: 'Allow', Action: 'lambda:InvokeFunction', Resource: resource },
    ]);
  });

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

  it('the bucket of the clusters table is private, has versions, and denies plain HTTP', () => {
    const { ClustersBucket, ClustersBucketPolicy } = parseTemplate(text).Resources;
    expect(ClustersBucket?.Properties).toMatchObject({
      VersioningConfiguration: { Status: 'Enabled' },
      PublicAccessBlockConfiguration: {
        ...{ BlockPublicAcls: true, BlockPublicPolicy: true, IgnorePublicAcls: true, RestrictPublicBuckets: true },
      },
    });
    const [statement, ...more] = Object(ClustersBucketPolicy?.Properties).PolicyDocument.Statement;
    expect(more).toEqual([]);
    const condition = { Bool: { 'aws:SecureTransport': expect.stringMatching('false') } };
    expect(statement).toMatchObject({ Effect: 'Deny', Principal: '*', Action: 's3:*', Condition: condition });
  });

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

  it('a dead-letter queue has the type of its queue, and SQS moves messages of controllers after ten receives', () => {
    const isFifo = (name: string) => name.endsWith('.fifo');
    const fed = stack.queues.filter(({ deadLetters }) => deadLetters !== undefined);
    expect(fed.filter(({ name }) => isFifo(name))).toHaveLength(registry.length);
    for (const { name, attributes, deadLetters } of fed) {
      const letters = stack.queues.find(({ arn }) => arn === deadLetters?.arn);
      if (isFifo(name)) expect(deadLetters?.maxReceiveCount, name).toBe(10);
      expect(isFifo(letters?.name ?? ''), name).toBe(isFifo(name));
      expect(letters?.attributes.FifoQueue, name).toBe(attributes.FifoQueue);
    }
  });

  it.each([
    ['stages', async () => await packageTemplate('prod')],
    ['projects', async () => await packageTemplate('test', [], { project: 'cafes' })],
  ])('two %s have no metric, alarm, queue, function, role, parameter or log group in common', async (_, packaged) => {
    const other = await packaged();
    const names =
      /"((?:Alarm|Dashboard|Function|LogGroup|ManagedPolicy|Queue|Role|Topic)Name|Namespace|METRICS_NAMESPACE)"/;
    const identities = (template: string) => {
      const found = new Set<string>();
      JSON.parse(template, (key, value) => {
        const isOwn = typeof value !== 'string' || !value.startsWith('AWS/');
        if (names.test(`"${key}"`) && isOwn) found.add(`${key}: ${JSON.stringify(value)}`);
        return value;
      });
      return found;
    };
    const own = identities(text);
    expect([...own].some((one) => one === 'Namespace: "outrigger/test"')).toBe(true);
    expect([...own].filter((one) => one.includes('test')).length).toBeGreaterThan(registry.length);
    const common = [...own].filter((one) => identities(other).has(one) && !/"(Ref|Fn::GetAtt)"/.test(one));
    expect(common).toEqual([]);
    // The prefixes of the clusters table and of secrets, in the policies of roles.
    const paths = (template: string) => new Set(template.match(/(?:parameter|secret:?)\/?[a-z]+\/[a-z]+\/[a-z*]+/g));
    expect(paths(text).size).toBeGreaterThan(0);
    expect([...paths(text)].filter((one) => paths(other).has(one))).toEqual([]);
  });

  it('every function has the prefix of its queues’ URLs', () => {
    const prefix = `${awsQueueBase('eu-central-1', '123456789012')}outrigger-test-`;
    expect(stack.functions.map(({ environment }) => environment.QUEUE_URL_PREFIX)).toEqual(
      stack.functions.map(() => prefix),
    );
  });

  it('every queue’s visibility timeout is six times its function’s timeout, and batches can fail partially', () => {
    for (const { queueArn, functionArn, reportsFailures } of stack.mappings) {
      const { attributes } = stack.queues.find(({ arn }) => arn === queueArn) ?? {};
      const { timeoutSeconds = Infinity } = stack.functions.find(({ arn }) => arn === functionArn) ?? {};
      expect(Number(attributes?.VisibilityTimeout), queueArn).toBeGreaterThanOrEqual(6 * timeoutSeconds);
      expect(reportsFailures, queueArn).toBe(true);
    }
    expect(stack.mappings).toHaveLength(stack.functions.length);
  });

  it('the resync schedule has the interval of its function’s setting', () => {
    const [tick, ...more] = stack.schedules;
    expect(more).toEqual([]);
    const resync = stack.functions.find(({ arn }) => arn === tick?.functionArn);
    expect(resync?.environment.RESYNC_SCHEDULE_SECONDS).toBe(String(tick?.everySeconds));
  });

  it('every function allows recursive loops, which Lambda would stop otherwise', () => {
    expect(text.match(/"RecursiveLoop":\s*"Allow"/g)).toHaveLength(stack.functions.length);
  });
});

// What AWS holds for each controller: a FIFO queue with its dead letters, a function with its role, and a stack parameter
// for each of its settings. serverless.yml includes it beside what is there once (infra/aws).
import type { Registered } from '../core/controller.ts';
import { controllerDeadLetters, controllerQueue } from '../core/words.ts';
import type { Json, JsonObject } from './json.ts';

/** Seconds. */
const functionTimeout = 30;
/** AWS Lambda, "Using Lambda with Amazon SQS": at least six times the function's time-out. */
const visibilityTimeout = 6 * functionTimeout;
/** Throttles and bad deployments count as receives too, so it must be high. */
const maxReceiveCount = 10;
const retentionSeconds = 1_209_600;
const maximumConcurrency = 10;

/** The name of everything of this deployment; serverless.yml sets it. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of serverless.yml
const prefix = '${self:custom.prefix}';

/** Makes `functions` and `resources` for serverless.yml. */
export function awsOf(registry: readonly Registered[]): JsonObject {
  return {
    functions: merge(registry.map((controller) => ({ [camelCase(controller.name)]: functionOf(controller) }))),
    resources: {
      Parameters: merge(registry.map(({ declares: { settings } }) => parametersOf(Object.keys(settings?.shape ?? {})))),
      Resources: merge(registry.map(resourcesOf)),
    },
  };
}

/** The stack parameter of a controller's setting: `PLANT_URL` is `PlantUrl`. */
export function parameterName(setting: string): string {
  return setting
    .toLowerCase()
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

function functionOf({ name, declares: { settings } }: Registered): JsonObject {
  const id = pascalCase(name);
  const own = Object.keys(settings?.shape ?? {}).map((setting) => [setting, ref(parameterName(setting))] as const);
  return {
    name: `${prefix}-${name}`,
    handler: `dist/${name}/index.handler`,
    timeout: functionTimeout,
    role: sub(`\${${id}Role.Arn}`),
    // The loop function → timers → function is wanted; Lambda would cut it after about 16 rounds.
    recursiveLoop: 'Allow',
    package: { patterns: ['!**', `dist/${name}/**`] },
    environment: { CLUSTERS: ref('ClustersTable'), ...Object.fromEntries(own) },
    events: [
      {
        sqs: {
          arn: { 'Fn::GetAtt': [`${id}Queue`, 'Arn'] },
          batchSize: 10,
          maximumConcurrency,
          functionResponseType: 'ReportBatchItemFailures',
        },
      },
    ],
  };
}

function parametersOf(settings: readonly string[]): JsonObject {
  return merge(
    settings.map((setting) => ({
      [parameterName(setting)]: {
        Type: 'String',
        Description: `${setting} of the controllers that use it.`,
        AllowedPattern: '.+',
        ConstraintDescription: `set it with --param ${setting}=...`,
      },
    })),
  );
}

function resourcesOf({ name }: Registered): JsonObject {
  const id = pascalCase(name);
  return {
    [`${id}Queue`]: {
      Type: 'AWS::SQS::Queue',
      Properties: {
        QueueName: `${prefix}-${controllerQueue(name)}`,
        ...fifo,
        VisibilityTimeout: visibilityTimeout,
        MessageRetentionPeriod: retentionSeconds,
        RedrivePolicy: { deadLetterTargetArn: { 'Fn::GetAtt': [`${id}DeadLetters`, 'Arn'] }, maxReceiveCount },
      },
    },
    [`${id}DeadLetters`]: {
      Type: 'AWS::SQS::Queue',
      Properties: {
        QueueName: `${prefix}-${controllerDeadLetters(name)}`,
        ...fifo,
        MessageRetentionPeriod: retentionSeconds,
      },
    },
    [`${id}Role`]: {
      Type: 'AWS::IAM::Role',
      Properties: {
        AssumeRolePolicyDocument: {
          Version: '2012-10-17',
          Statement: [{ Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' }],
        },
        Policies: [
          {
            PolicyName: name,
            PolicyDocument: {
              Version: '2012-10-17',
              Statement: [
                allow(['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'], arnOf(`${id}Queue`)),
                // Its own queue for what mapping functions find, and what became of the rest.
                allow(['sqs:SendMessage'], [arnOf(`${id}Queue`), arnOf(`${id}DeadLetters`), arnOf('TimersQueue')]),
                allow(
                  ['ssm:GetParameter'],
                  sub(
                    `arn:\${AWS::Partition}:ssm:\${AWS::Region}:\${AWS::AccountId}:parameter/outrigger/\${sls:stage}/clusters/*`,
                  ),
                ),
                allow(
                  ['logs:CreateLogStream', 'logs:PutLogEvents'],
                  sub(
                    `arn:\${AWS::Partition}:logs:\${AWS::Region}:\${AWS::AccountId}:log-group:/aws/lambda/${prefix}-${name}:*`,
                  ),
                ),
              ],
            },
          },
        ],
      },
    },
  };
}

/** SQS: both together are the high-throughput mode, in which deduplication is a group's own. */
const fifo = {
  FifoQueue: true,
  DeduplicationScope: 'messageGroup',
  FifoThroughputLimit: 'perMessageGroupId',
  SqsManagedSseEnabled: true,
} as const;

function allow(actions: readonly string[], resources: Json): JsonObject {
  return { Effect: 'Allow', Action: actions, Resource: resources };
}

const arnOf = (id: string): JsonObject => ({ 'Fn::GetAtt': [id, 'Arn'] });
const ref = (id: string): JsonObject => ({ Ref: id });
const sub = (text: string): JsonObject => ({ 'Fn::Sub': text });

function merge(parts: readonly JsonObject[]): JsonObject {
  return Object.assign({}, ...parts);
}

function pascalCase(name: string): string {
  return parameterName(name.replaceAll('-', '_'));
}

function camelCase(name: string): string {
  const pascal = pascalCase(name);
  return pascal.charAt(0).toLowerCase() + pascal.slice(1);
}

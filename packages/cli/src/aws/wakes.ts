// The resources of events outside of the clusters: one function with its role for the whole deployment, and a rule of
// EventBridge for each declared wake. A rule cannot send to a controller's FIFO queue, because its message group would
// be one fixed text for all objects. None of it exists without a declared wake.
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { eventPatternOf } from 'outrigger/internal/api/wake';
import type { JsonObject } from 'outrigger/internal/core/json';
import { logicalId, resyncQueue, timersQueue, wakeFunction } from 'outrigger/internal/core/names';
import { arnOf, clustersTable, lambdaFunction, ref } from './names.ts';
import { allow, functionRole, readsTable, writesLogs } from './role.ts';

/** How long an event is tried again. A later one is found by the periodic reconcile. */
const maxAgeSeconds = 3_600;
/**
 * An event of 100 keys in 500 clusters is 5,000 batches, of which four are sent at a time. An event that does not fit
 * is repeated twice, and then a dead letter. A repetition in another environment begins again with the same keys.
 */
const timeoutSeconds = 120;
const id = logicalId(wakeFunction);

/** A controller, with its declaration if the project's code loads. */
export type NamedController = {
  readonly name: string;
  readonly declaration?: Pick<ControllerDefinition['declaration'], 'wakes'>;
};

/** The name of the wake function if a controller declares wakes; else none. */
export function wakers(registry: readonly NamedController[]): readonly string[] {
  return registry.some(declaresWakes) ? [wakeFunction] : [];
}

/**
 * The names of all functions of a deployment: those of the controllers, and the shared ones. Everything that is made or
 * shown of functions takes them from here. Of controllers whose code does not load, the wake function is not known.
 */
export function functionNames(controllers: readonly NamedController[]): readonly string[] {
  return [...controllers.map(({ name }) => name), ...sharedFunctions(controllers)];
}

/** The names of the functions that all controllers share. */
export function sharedFunctions(controllers: readonly NamedController[]): readonly string[] {
  return [timersQueue, resyncQueue, ...wakers(controllers)];
}

/** Makes the wake function as a part of serverless.yml; empty without wakes. */
export function wakeFunctionOf(registry: readonly ControllerDefinition[]): Readonly<Record<string, JsonObject>> {
  if (!registry.some(declaresWakes)) return {};
  return {
    // A reconcile may cause the next event. At most one message a second and key follows.
    [wakeFunction]: lambdaFunction(wakeFunction, {
      timeout: timeoutSeconds,
      environment: { CLUSTERS: clustersTable },
    }),
  };
}

/** Makes the role of the wake function, the rules, and the permissions of EventBridge; empty without wakes. */
export function wakeResourcesOf(registry: readonly ControllerDefinition[]): Readonly<Record<string, JsonObject>> {
  const waking = registry.filter(declaresWakes);
  if (waking.length === 0) return {};
  const rules = rulesOf(registry);
  return {
    [`${id}Role`]: functionRole(wakeFunction, [
      allow(
        ['sqs:SendMessage'],
        [
          ...waking.map(({ name }) => arnOf(`${logicalId(name)}Queue`)),
          arnOf('TimersQueue'),
          arnOf('TimersDeadLetters'),
        ],
      ),
      ...readsTable(),
      writesLogs(wakeFunction),
    ]),
    ...Object.assign(
      {},
      ...rules.map(([rule, name, one]) => ({
        [rule]: ruleOf(name, eventPatternOf(one)),
        [`${rule}Permission`]: permissionOf(rule),
      })),
    ),
    [`${id}Retries`]: {
      Type: 'AWS::Lambda::EventInvokeConfig',
      Properties: {
        FunctionName: ref(`${id}LambdaFunction`),
        Qualifier: '$LATEST',
        MaximumEventAgeInSeconds: maxAgeSeconds,
        MaximumRetryAttempts: 2,
        DestinationConfig: { OnFailure: { Destination: arnOf('TimersDeadLetters') } },
      },
    },
  };
}

/** A statement that denies plain HTTP. SQS takes `*` as the queue itself. */
export const plainHttpDenied: JsonObject = {
  Effect: 'Deny',
  Principal: '*',
  Action: 'sqs:*',
  Resource: '*',
  Condition: { Bool: { 'aws:SecureTransport': 'false' } },
};

function ruleOf(controller: string, pattern: JsonObject): JsonObject {
  return {
    Type: 'AWS::Events::Rule',
    Properties: {
      Description: `Events that wake ${controller}`,
      EventPattern: pattern,
      Targets: [
        {
          Id: wakeFunction,
          Arn: arnOf(`${id}LambdaFunction`),
          RetryPolicy: { MaximumEventAgeInSeconds: maxAgeSeconds, MaximumRetryAttempts: 185 },
          DeadLetterConfig: { Arn: arnOf('TimersDeadLetters') },
        },
      ],
    },
  };
}

/**
 * Without SourceAccount, which Lambda says not every event source supports: the ARN of the rule has the account.
 * ("Using resource-based policies for Amazon EventBridge")
 */
function permissionOf(rule: string): JsonObject {
  return {
    Type: 'AWS::Lambda::Permission',
    Properties: {
      Action: 'lambda:InvokeFunction',
      FunctionName: ref(`${id}LambdaFunction`),
      Principal: 'events.amazonaws.com',
      SourceArn: arnOf(rule),
    },
  };
}

/** The rules of the declared wakes: id, controller and wake. */
function rulesOf(registry: readonly ControllerDefinition[]) {
  return registry.flatMap(({ name, declaration }) =>
    declaration.wakes.map((one, index) => [`${logicalId(name)}Wake${index + 1}Rule`, name, one] as const),
  );
}

/** Permits the rules to send to their dead-letter queue; empty without wakes. */
export function rulesStatements(registry: readonly ControllerDefinition[]): readonly JsonObject[] {
  const rules = rulesOf(registry).map(([rule]) => arnOf(rule));
  if (rules.length === 0) return [];
  return [
    {
      Effect: 'Allow',
      Principal: { Service: 'events.amazonaws.com' },
      Action: 'sqs:SendMessage',
      Resource: arnOf('TimersDeadLetters'),
      Condition: { ArnEquals: { 'aws:SourceArn': rules } },
    },
  ];
}

function declaresWakes({ declaration }: NamedController): boolean {
  return (declaration?.wakes ?? []).length > 0;
}

// The IAM role of a controller's function: it consumes its queue, sends to timers and to its dead-letter queue, reads
// the clusters table, and writes logs.

import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { isParameter, placeholdersOf } from 'outrigger/internal/api/permissions';
import { isSecret } from 'outrigger/internal/api/secret';
import type { Json, JsonObject } from 'outrigger/internal/core/json';
import { logicalId } from 'outrigger/internal/core/names';
import { arnOf, clustersObject, deduplicationSecret, namePrefix, ownArn, ref } from './names.ts';

/** Makes the role of a controller's function. */
export function roleOf({ name, declaration }: ControllerDefinition): JsonObject {
  const id = logicalId(name);
  const sendsOwnKeys = sendsToItself(declaration);
  const statements = [
    receivesFrom(`${id}Queue`),
    allow(
      ['sqs:SendMessage'],
      [...(sendsOwnKeys ? [arnOf(`${id}Queue`)] : []), arnOf(`${id}DeadLetters`), arnOf('TimersQueue')],
    ),
    ...readsTable(),
    allow(
      ['secretsmanager:GetSecretValue'],
      [...secretsOf(declaration.settings), ...(sendsOwnKeys ? [ref(deduplicationSecret)] : [])],
    ),
    writesLogs(name),
  ];
  return functionRole(name, [...statements, ...ownStatements(declaration, 'inline')]);
}

/** The inline policies of a role may have 10,240 characters. The statements of every function need up to 4,000. */
const mostInline = 5_000;
/** A managed policy may have 6,144 characters (IAM and STS quotas). Placeholders may grow by their values. */
const mostManaged = 4_500;

/** Makes the managed policies for permissions that are too long for a role: `WaterTankPermissions1` and so on. */
export function permissionPoliciesOf({
  name,
  declaration,
}: ControllerDefinition): Readonly<Record<string, JsonObject>> {
  const policies: JsonObject[][] = [];
  for (const statement of ownStatements(declaration, 'managed')) {
    const last = policies.at(-1);
    if (last === undefined || JSON.stringify([...last, statement]).length > mostManaged) policies.push([statement]);
    else last.push(statement);
  }
  const id = logicalId(name);
  return Object.fromEntries(
    policies.map((Statement, index) => [
      `${id}Permissions${index + 1}`,
      {
        Type: 'AWS::IAM::ManagedPolicy',
        Properties: {
          Description: `What ${name} may do on AWS for its author.`,
          PolicyDocument: policyDocument(Statement),
          Roles: [ref(`${id}Role`)],
        },
      },
    ]),
  );
}

/** The author's permissions as statements, if this is the place where they are. */
function ownStatements(
  { permissions = [] }: ControllerDefinition['declaration'],
  place: 'inline' | 'managed',
): readonly JsonObject[] {
  const given = permissions.map(({ actions, resources, conditions: Condition }) => ({
    ...allow(actions, resources),
    Condition,
  }));
  const statements: readonly JsonObject[] = JSON.parse(JSON.stringify(given), (_, one) =>
    typeof one === 'string' ? withParameters(one) : one,
  );
  const isLong = JSON.stringify(statements).length > mostInline;
  return isLong === (place === 'managed') ? statements : [];
}

/** Settings in a text are parameters of the stack. A variable of IAM stays one: `${!aws:userid}`. */
function withParameters(text: string): Json {
  if (!placeholdersOf(text).some(isParameter)) return text;
  const named = text.replaceAll(/\$\{([A-Z][A-Z0-9_]*)\}/g, (_, name: string) => `\${${logicalId(name)}}`);
  return { 'Fn::Sub': named.replaceAll(/\$\{(?!AWS::|\w+\})/g, '${!') };
}

/** Makes the role of a function. `more` has the statements of further policies by name. */
export function functionRole(
  name: string,
  statements: readonly JsonObject[],
  more: Readonly<Record<string, readonly JsonObject[]>> = {},
): JsonObject {
  return serviceRole(name, { Principal: { Service: 'lambda.amazonaws.com' } }, { [name]: statements, ...more });
}

/** Makes the role that a service assumes, with policies by name. */
export function serviceRole(
  name: string,
  who: JsonObject,
  policies: Readonly<Record<string, readonly JsonObject[]>>,
): JsonObject {
  return {
    Type: 'AWS::IAM::Role',
    Properties: {
      // A fixed name, because clusters identify the function by it. It has the region, because roles belong to an
      // account.
      RoleName: { 'Fn::Sub': `${namePrefix}${name}-\${AWS::Region}` },
      AssumeRolePolicyDocument: policyDocument([{ Effect: 'Allow', Action: 'sts:AssumeRole', ...who }]),
      Policies: Object.entries(policies).map(([PolicyName, statements]) => ({
        PolicyName,
        PolicyDocument: policyDocument(statements),
      })),
    },
  };
}

/** Permits a function to receive from a queue, by the queue's id. */
export function receivesFrom(queue: string): JsonObject {
  const actions = ['ReceiveMessage', 'DeleteMessage', 'ChangeMessageVisibility', 'GetQueueAttributes'];
  return allow(
    actions.map((one) => `sqs:${one}`),
    arnOf(queue),
  );
}

/** Makes a policy of these statements. */
export function policyDocument(statements: readonly JsonObject[]): JsonObject {
  return { Version: '2012-10-17', Statement: statements };
}

/**
 * Permits a function to read the clusters table, in a bucket of this account: another account could make a bucket of
 * the name of a deleted one, and its table would get the tokens of all clusters.
 */
export function readsTable(): readonly JsonObject[] {
  const Condition = { StringEquals: { 'aws:ResourceAccount': ref('AWS::AccountId') } };
  return [
    { ...allow(['s3:GetObject'], s3Arn(clustersObject)), Condition },
    // Without it, S3 responds to a read of a missing object with 403 instead of 404.
    { ...allow(['s3:ListBucket'], s3Arn('${ClustersBucket}')), Condition },
  ];
}

/** Permits a function to write its log. */
export function writesLogs(name: string): JsonObject {
  return allow(
    ['logs:CreateLogStream', 'logs:PutLogEvents'],
    ownArn('logs', `log-group:/aws/lambda/${namePrefix}${name}:*`),
  );
}

/** Whether a function sends keys to its own queue: those that it maps, and that of an object that got its finalizer. */
export function sendsToItself({ watches, finalizes }: ControllerDefinition['declaration']): boolean {
  return finalizes || watches.some(({ label }) => label === undefined);
}

/**
 * The secrets of entries of the clusters table, and those that are named after the controller's own settings. Secrets
 * Manager adds a dash and six characters to the name of a secret in its ARN.
 */
function secretsOf(settings: ControllerDefinition['declaration']['settings']): readonly Json[] {
  const names = ['clusters/*', ...secretSettings(settings).map((name) => `settings/${name}-??????`)];
  return names.map((name) => ownArn('secretsmanager', `secret:\${self:service}/\${self:custom.stage}/${name}`));
}

/** The names of the settings that are secrets. */
export function secretSettings(settings: ControllerDefinition['declaration']['settings']): readonly string[] {
  return Object.entries(settings?.shape ?? {}).flatMap(([name, schema]) => (isSecret(schema) ? [name] : []));
}

function s3Arn(name: string): JsonObject {
  return { 'Fn::Sub': `arn:\${AWS::Partition}:s3:::${name}` };
}

/** Makes a statement that permits these actions. */
export function allow(actions: readonly string[], resources: Json): JsonObject {
  return { Effect: 'Allow', Action: actions, Resource: resources };
}

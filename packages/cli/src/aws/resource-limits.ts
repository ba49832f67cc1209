// The limits of single resources that a registry can exceed, in one table with their sources. A deployment would fail
// half-way with an error of the service. The limits of the whole stack are in limits.ts, and those of names, which
// begin with project and stage, in packages/cli/src/serverless/check-names.ts.
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { UserError } from 'outrigger/internal/core/errors';
import { isJsonObject, type Json, type JsonObject } from 'outrigger/internal/core/json';
import { awsOf } from './resources.ts';

/** A limit of a property of a type, in this unit, and the page of AWS that has it. */
type ResourceLimit = readonly [type: string, property: string, what: string, limit: number, source: string];
const limits: readonly ResourceLimit[] = [
  [
    'Events::Rule',
    'EventPattern',
    'characters in the event pattern',
    2_048,
    'Amazon EventBridge quotas, "Event pattern size"',
  ],
  ['Events::Rule', 'Description', 'characters in the description', 512, 'Amazon EventBridge API, PutRule'],
  [
    'IAM::Role',
    'Policies',
    'characters in the inline policies',
    10_240,
    'IAM and AWS STS quotas, "Role inline policies"',
  ],
  ['SQS::QueuePolicy', 'PolicyDocument', 'bytes in the policy of a queue', 8_192, 'Amazon SQS quotas, "Policy"'],
  // All permissions are added to one policy.
  [
    'Lambda::Permission',
    '',
    'bytes in the policy of the function wake',
    20_480,
    'AWS Lambda quotas, "Function resource-based policy"',
  ],
  [
    'Logs::QueryDefinition',
    'QueryString',
    'characters in a query',
    10_000,
    'Amazon CloudWatch Logs API, PutQueryDefinition',
  ],
  [
    'CloudWatch::Alarm',
    'AlarmDescription',
    'characters in the description',
    1_024,
    'Amazon CloudWatch API, PutMetricAlarm',
  ],
];

/** Throws a UserError for the first resource of a registry that is larger than AWS accepts. */
export function checkResourceLimits(registry: readonly ControllerDefinition[]): void {
  const all = Object.entries(awsOf(registry).resources.Resources);
  for (const [type, property, what, limit, source] of limits) {
    const isShared = property === '';
    const sizes = all.flatMap(([id, resource]) => {
      if (resource.Type !== `AWS::${type}` || !isJsonObject(resource.Properties)) return [];
      const { Properties } = resource;
      return [{ name: nameOf(id, Properties), size: sizeOf(isShared ? Properties : Properties[property]) }];
    });
    const total = sizes.reduce((sum, { size }) => sum + size + statementFrame, 0);
    const over = isShared ? undefined : sizes.find(({ size }) => size > limit);
    const bound = `of at most ${limit} (${source})`;
    if (over !== undefined) throw new UserError(`${over.name}: ${over.size} ${what}, ${bound}`);
    if (isShared && total > limit) throw new UserError(`${sizes.length} rules are ${total} ${what}, ${bound}`);
  }
}

/** What Lambda adds to a permission in the function's policy: its id, and the names of the elements. */
const statementFrame = 150;

function nameOf(id: string, { Description }: JsonObject): string {
  return typeof Description === 'string' ? `${id} (${Description})` : id;
}

/** The size of a text, or of a value as JSON, with what CloudFormation fills in. */
function sizeOf(value: Json | undefined): number {
  if (typeof value === 'string') return value.length;
  return value === undefined ? 0 : JSON.stringify(filledIn(value)).length;
}

/** The longest ARN that is planned for, before the part of a resource's own name (limits.ts). */
const arnStart = 'arn:aws-us-gov:events:ap-southeast-1:123456789012:rule/'.padEnd(87, 'x');

function filledIn(value: Json): Json {
  if (Array.isArray(value)) return value.map(filledIn);
  if (!isJsonObject(value)) return value;
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Sub': text } = value;
  if (typeof Ref === 'string') return arnStart;
  if (Array.isArray(attribute)) return `${arnStart}${String(attribute[0])}`;
  if (typeof text === 'string') return `${arnStart}${text}`;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, one]) => (one === undefined ? [] : [[key, filledIn(one)]])),
  );
}

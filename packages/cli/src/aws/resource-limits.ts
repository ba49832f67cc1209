// The limits of single resources that a registry can exceed, in one table with their sources. A deployment would fail
// half-way with an error of the service. The limits of the whole stack are in limits.ts, and those of names, which
// begin with project and stage, in packages/cli/src/serverless/check-names.ts.
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { UserError } from 'outrigger/internal/core/errors';
import { isJsonObject, type Json, type JsonObject } from 'outrigger/internal/core/json';
import { awsOf } from './resources.ts';

/** A limit of a property, or of all resources of a type together. */
type ResourceLimit = {
  readonly type: string;
  readonly property: string;
  readonly what: string;
  readonly limit: number;
  /** The page of AWS that has it. */
  readonly source: string;
  /** Whether the resources of the type share it: they are added to one policy. */
  readonly isShared?: true;
};

const limits: readonly ResourceLimit[] = [
  {
    type: 'AWS::Events::Rule',
    property: 'EventPattern',
    what: 'characters in the event pattern',
    limit: 2_048,
    source: 'Amazon EventBridge quotas, "Event pattern size"',
  },
  {
    type: 'AWS::Events::Rule',
    property: 'Description',
    what: 'characters in the description',
    limit: 512,
    source: 'Amazon EventBridge API, PutRule',
  },
  {
    type: 'AWS::IAM::Role',
    property: 'Policies',
    what: 'characters in the inline policies',
    limit: 10_240,
    source: 'IAM and AWS STS quotas, "Role inline policies"',
  },
  {
    type: 'AWS::SQS::QueuePolicy',
    property: 'PolicyDocument',
    what: 'bytes in the policy of a queue',
    limit: 8_192,
    source: 'Amazon SQS quotas, "Policy"',
  },
  {
    type: 'AWS::Lambda::Permission',
    property: '',
    what: 'bytes in the policy of the function wake',
    limit: 20_480,
    source: 'AWS Lambda quotas, "Function resource-based policy"',
    isShared: true,
  },
  {
    type: 'AWS::Logs::QueryDefinition',
    property: 'QueryString',
    what: 'characters in a query',
    limit: 10_000,
    source: 'Amazon CloudWatch Logs API, PutQueryDefinition',
  },
  {
    type: 'AWS::CloudWatch::Alarm',
    property: 'AlarmDescription',
    what: 'characters in the description',
    limit: 1_024,
    source: 'Amazon CloudWatch API, PutMetricAlarm',
  },
];

/** Throws a UserError for the first resource of a registry that is larger than AWS accepts. */
export function checkResourceLimits(registry: readonly ControllerDefinition[]): void {
  const all = Object.entries(awsOf(registry).resources.Resources);
  for (const { type, property, what, limit, source, isShared } of limits) {
    const sizes = all.flatMap(([id, resource]) => {
      if (resource.Type !== type || !isJsonObject(resource.Properties)) return [];
      const { Properties } = resource;
      return [{ name: nameOf(id, Properties), size: sizeOf(property === '' ? Properties : Properties[property]) }];
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

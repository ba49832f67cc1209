// The policy of whoever deploys, of the packaged template of the samples. That AWS needs no other action was not tried.
import { readFile } from 'node:fs/promises';
import { deployerPolicyCommand } from '@outrigger/cli/commands/deployer-policy';
import { expect, it, vi } from 'vitest';
import * as z from 'zod';
import { useFolder } from '../support/folder.ts';
import { expectUserError, runHere } from './command-result.ts';

const folder = useFolder();
const statement = z.object({ Action: z.array(z.string()), Resource: z.array(z.string()) });
const policy = z.object({ Statement: z.array(statement) });
/** The longest managed policy of IAM (IAM and AWS STS quotas). */
const maxCharacters = 6_144;

async function run(types: readonly string[], stage = 'prod', given: Readonly<Record<string, string>> = {}) {
  vi.spyOn(process, 'cwd').mockReturnValue(folder.path);
  await folder.write('package.json', '{ "name": "cafes", "outrigger": { "project": "cafes" } }');
  const Resources = Object.fromEntries(types.map((Type, index) => [`R${index}`, { Type }]));
  await folder.write(
    '.serverless/cloudformation-template-update-stack.json',
    JSON.stringify({ Resources, Metadata: { OutriggerGiven: given } }),
  );
  return await runHere(deployerPolicyCommand(), ['--stage', stage]);
}

it('D16: the policy has what the types of the template need, for the names of the stack, and fits a managed policy', async () => {
  const snapshot = await readFile('test/generate/samples-template.txt', 'utf8');
  const types = [...snapshot.matchAll(/AWS::\w+::\w+/g)].map(([type]) => type);
  const { out, status } = await run(types);
  expect(status).toBe(0);
  const { Statement } = policy.parse(JSON.parse(out));
  const permitted = (action: string) => Statement.find(({ Action }) => Action.includes(action))?.Resource;
  for (const action of [
    'lambda:PutFunctionRecursionConfig',
    'secretsmanager:GetRandomPassword',
    'logs:PutQueryDefinition',
  ])
    expect(permitted(action), action).toEqual(['*']);
  expect(permitted('iam:PassRole')).toEqual(['arn:*:iam::*:role/*cafes-prod-*', 'arn:*:iam::*:policy/*cafes-prod-*']);
  expect(permitted('sqs:CreateQueue')).toEqual(['arn:*:sqs:*:*:cafes-prod-*']);
  expect(JSON.stringify(JSON.parse(out)).length).toBeLessThan(maxCharacters);
});

it('D16: the policy has what a removal needs, and the names that CloudFormation shortens, of buckets in lower case', async () => {
  const { out } = await run(['AWS::S3::Bucket', 'AWS::Events::Rule'], 'Production-of-payments');
  const { Statement } = policy.parse(JSON.parse(out));
  const permitted = (action: string) => Statement.find(({ Action }) => Action.includes(action))?.Resource;
  // osls empties its bucket, which has versions.
  expect(permitted('s3:DeleteObjectVersion')).toEqual([
    'arn:*:s3:::cafes-production-of-*',
    'arn:*:s3:::cafes-production-of-*/*',
  ]);
  expect(permitted('events:PutRule')).toEqual(['arn:*:events:*:*:rule/cafes-Production-of-*']);
});

it('D16: the policy has what who names a key for functions and secrets needs, for the key of the deployment alone', async () => {
  const key = 'arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d';
  expect((await run(['AWS::Lambda::Function'])).out).not.toContain('kms:');
  const { Statement } = policy.parse(
    JSON.parse((await run(['AWS::Lambda::Function'], 'prod', { KMS_KEY_ARN: key })).out),
  );
  expect(Statement).toContainEqual({
    Action: ['kms:CreateGrant', 'kms:Decrypt', 'kms:Encrypt', 'kms:GenerateDataKey'],
    Resource: [key],
  });
});

it('D16: a type of the author’s own whose actions are not known is named, with where they are listed', async () => {
  const result = await run(['AWS::SQS::Queue', 'AWS::DynamoDB::Table']);
  expectUserError(result, 'describe-type --type RESOURCE --type-name AWS::DynamoDB::Table lists them under handlers');
});

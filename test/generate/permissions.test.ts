// The permissions of controllers in the generated roles, and those that are refused.

import { awsOf } from '@outrigger/cli/aws/resources';
import { checkRegistry } from '@outrigger/cli/project/check-registry';
import { expect, it } from 'vitest';
import * as z from 'zod';
import type { Permission } from '../../src/api/permissions.ts';
import { secret } from '../../src/api/secret.ts';
import { isRecord } from '../../src/core/json.ts';
import { defineKind, ok } from '../../src/outrigger.ts';

const Name = defineKind({
  group: 'dns.example.com',
  version: 'v1',
  kind: 'Name',
  spec: z.object({}),
  status: z.object({}),
  conditions: ['Published'],
});
const controller = (name: string, permissions?: readonly Permission[]) =>
  Name.controller(name, {
    settings: z.object({ ZONE_ID: z.string(), API_TOKEN: secret(), MENU: z.string().default('menus') }),
    ...(permissions === undefined ? {} : { permissions }),
    reconcile: async () => ({ status: {}, conditions: { Published: ok('Published') } }),
  });
const zone = 'arn:${AWS::Partition}:route53:::hostedzone/${ZONE_ID}';
const change: Permission = { actions: ['route53:ChangeResourceRecordSets'], resources: [zone] };

/** The resources of the template that mention a text. */
function resourcesWith(text: string, ...given: Parameters<typeof awsOf>): readonly (readonly [string, string])[] {
  const { resources } = awsOf(...given);
  const all = isRecord(resources) && isRecord(resources.Resources) ? Object.entries(resources.Resources) : [];
  return all
    .map(([id, resource]) => [id, JSON.stringify(resource)] as const)
    .filter(([, resource]) => resource.includes(text));
}

it('U1: a permission is in the role of its function and in no other, with the setting as a parameter', () => {
  const conditions = {
    StringEquals: { 'aws:ResourceAccount': '${AWS::AccountId}', 'aws:userid': ['${ZONE_ID}-${aws:userid}', 'a'] },
  };
  const registry = [controller('name', [{ ...change, conditions }]), controller('other')];
  const [first, ...others] = resourcesWith('route53:', registry);
  expect(others).toEqual([]);
  expect(first?.[0]).toBe('NameRole');
  expect(first?.[1]).toContain(
    JSON.stringify({
      Effect: 'Allow',
      Action: ['route53:ChangeResourceRecordSets'],
      Resource: [{ 'Fn::Sub': 'arn:${AWS::Partition}:route53:::hostedzone/${ZoneId}' }],
      Condition: {
        StringEquals: {
          'aws:ResourceAccount': { 'Fn::Sub': '${AWS::AccountId}' },
          'aws:userid': [{ 'Fn::Sub': '${ZoneId}-${!aws:userid}' }, 'a'],
        },
      },
    }),
  );
});

it('U1: permissions that are too long for a role are managed policies of it, each within the limit of IAM', () => {
  const resources = Array.from({ length: 30 }, (_, index) => `arn:aws:s3:::bucket-of-the-project-number-${index}/*`);
  const many = Array.from({ length: 6 }, (): Permission => ({ actions: ['s3:GetObject'], resources }));
  const found = resourcesWith('bucket-of-the-project', [controller('name', many)]);
  expect(found.map(([id]) => id)).toEqual(['NamePermissions1', 'NamePermissions2', 'NamePermissions3']);
  for (const [, policy] of found) {
    expect(policy).toContain('"Roles":[{"Ref":"NameRole"}]');
    expect(policy.length).toBeLessThan(6_144);
  }
  expect(found.flatMap(([, policy]) => policy.match(/s3:GetObject/g) ?? [])).toHaveLength(many.length);
});

it.each<readonly [string, Permission, string]>([
  ['every action', { actions: ['*'], resources: [zone] }, 'actions.0: * permits every action it matches'],
  ['every action of a service', { actions: ['s3:*'], resources: [zone] }, 'actions.0: s3:* permits every'],
  ['every resource', { ...change, resources: ['*'] }, 'resources.0: * is every resource'],
  ['every bucket', { ...change, resources: ['arn:aws:s3:::*'] }, 'resources.0: arn:aws:s3:::* is every resource'],
  ['every queue', { ...change, resources: ['arn:aws:sqs:eu-west-1:111122223333:*'] }, 'is every resource'],
  [
    'every queue of the stack',
    { ...change, resources: ['arn:aws:sqs:${AWS::Region}:${AWS::AccountId}:*'] },
    'is every',
  ],
  ['every account', { ...change, resources: ['arn:aws:iam::*:role/dns'] }, 'or of every account; say `wildcard: true`'],
  [
    'a default, which no template has',
    { ...change, resources: ['arn:aws:s3:::${MENU}/*'] },
    '${MENU} is not a setting',
  ],
  [
    'a misspelt setting in a condition',
    { ...change, conditions: { StringEquals: { 'aws:userid': '${ZONE}' } } },
    'conditions.StringEquals: ${ZONE} is not a setting',
  ],
  ['no action', { ...change, actions: [] }, 'actions: name at least one action'],
  ['no resource', { ...change, resources: [] }, 'resources: name at least one ARN'],
  ['an operation', { ...change, actions: ['ChangeResourceRecordSets'] }, 'is not an action of IAM'],
  ['a name', { ...change, resources: ['my-bucket'] }, 'resources.0: my-bucket is not an ARN'],
  ['a setting that is not there', { ...change, resources: ['arn:aws:s3:::${BUCKET}/*'] }, '${BUCKET} is not a setting'],
  ['a secret', { ...change, resources: ['arn:aws:s3:::${API_TOKEN}/*'] }, '${API_TOKEN} is not a setting'],
  ['an operator', { ...change, conditions: { stringequals: {} } }, 'is not an operator of IAM'],
])('U1: a permission with %s is refused with its place', (_, permission, text) => {
  expect(() => checkRegistry([controller('name', [permission])])).toThrow('controller name.permissions.0.');
  expect(() => checkRegistry([controller('name', [permission])])).toThrow(text);
});

it('U1: wildcards are accepted if that is said', () => {
  const resources = ['*', 'arn:aws:iam::*:role/dns', 'arn:aws:sqs:*:*:*'];
  const listed: Permission = { actions: ['route53:List*'], resources, wildcard: true };
  expect(() => checkRegistry([controller('name', [listed])])).not.toThrow();
});

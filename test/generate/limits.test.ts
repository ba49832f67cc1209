// The limits of a stack, as generate counts them, compared with the packaged template. Excluded: the template's content
// (packaged.test.ts), and what is reported near a limit (stack-limits.test.ts).

import { stackLimits } from '@outrigger/cli/aws/limits';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { registry } from '../../src/controllers/registry.ts';
import { many } from './many-registry.ts';
import { devTemplate, packageTemplate } from './package-template.ts';

const used = (given: readonly ControllerDefinition[], what: string): number =>
  stackLimits(given).find((one) => one.what === what)?.used ?? Number.NaN;

const resource = z.looseObject({ Type: z.string(), Properties: z.record(z.string(), z.unknown()).default({}) });
const packagedTemplate = z.looseObject({ Resources: z.record(z.string(), resource), Parameters: z.looseObject({}) });

/** A part of a template as JSON, with values in place of its functions: ids of roles, ARNs of queues. */
function withValues(part: unknown): string {
  const value = (_: string, one: unknown): unknown => {
    if (typeof one !== 'object' || one === null || Object.keys(one).length !== 1) return one;
    const [[name, of] = ['', '']] = Object.entries(one);
    if (name === 'Fn::GetAtt') {
      return String(of).endsWith('RoleId')
        ? `AROA${'X'.repeat(17)}`
        : `arn:aws-us-gov:sqs:us-gov-west-1:123456789012:${'q'.repeat(60)}`;
    }
    if (name === 'Fn::Join' && Array.isArray(of))
      return of[1].map((item: unknown) => JSON.parse(withValues(item))).join(of[0]);
    if (name === 'Fn::Sub') {
      const text = Array.isArray(of) ? String(of[0]) : String(of);
      return text
        .replaceAll(/\$\{\w*RoleId\}|\$\{\w+Role\.RoleId\}/g, `AROA${'X'.repeat(17)}`)
        .replaceAll(/\$\{AWS::AccountId\}/g, '123456789012');
    }
    return name === 'Ref' ? 'r'.repeat(40) : one;
  };
  return JSON.stringify(part ?? {}, value);
}

describe('the limits of a stack', () => {
  let text: string;
  let template: { Resources: object; Parameters: object };
  beforeAll(async () => {
    text = await devTemplate();
    template = z.looseObject({ Resources: z.looseObject({}), Parameters: z.looseObject({}) }).parse(JSON.parse(text));
  }, 240_000);

  it('the counted resources and parameters are those of the packaged template', () => {
    expect(used(registry, 'resources')).toBe(Object.keys(template.Resources).length);
    expect(used(registry, 'parameters')).toBe(Object.keys(template.Parameters).length);
  });

  it('the counted bytes are not below those of the packaged template, and at most a third above', () => {
    const bytes = JSON.stringify(JSON.parse(text)).length;
    expect(used(registry, 'bytes in the template')).toBeGreaterThanOrEqual(bytes);
    expect(used(registry, 'bytes in the template')).toBeLessThan(1.33 * bytes);
  });

  it('the most controllers that fit are packaged, and no limit of AWS is exceeded', async () => {
    const packaged = packagedTemplate.parse(
      JSON.parse(await packageTemplate('limits', [], { registry: ['generate/many-registry.ts', 'many'] })),
    );
    const all = Object.values(packaged.Resources);
    const sizesOf = (type: string, value: (properties: Readonly<Record<string, unknown>>) => unknown) =>
      all.filter(({ Type }) => Type === type).map(({ Properties }) => withValues(value(Properties)).length);
    expect(all).toHaveLength(used(many, 'resources'));
    expect(Object.keys(packaged.Parameters).length).toBe(used(many, 'parameters'));
    const environments = sizesOf('AWS::Lambda::Function', ({ Environment }) => Environment);
    const policies = sizesOf('AWS::IAM::ManagedPolicy', ({ PolicyDocument }) => PolicyDocument);
    const inline = sizesOf('AWS::IAM::Role', ({ Policies }) => Policies);
    expect([environments.length, policies.length > 0, inline.length > 40]).toEqual([42, true, true]);
    expect(Math.max(...environments)).toBeLessThanOrEqual(4_096);
    expect(Math.max(...policies)).toBeLessThanOrEqual(6_144);
    expect(Math.max(...inline)).toBeLessThanOrEqual(10_240);
  }, 180_000);
});

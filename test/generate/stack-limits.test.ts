// What generate reports of a registry near a limit of a stack. Compared with a packaged template: limits.test.ts.

import { checkStackLimits } from '@outrigger/cli/aws/limits';
import { checkResourceLimits } from '@outrigger/cli/aws/resource-limits';
import { expect, it } from 'vitest';
import * as z from 'zod';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { secret, wake } from '../../src/outrigger.ts';
import { only, treeWith } from './sample-registry.ts';

const controllers = (count: number, settings?: z.ZodObject): readonly ControllerDefinition[] =>
  Array.from({ length: count }, (_, index) => only(`controller-${index}`, settings)).flat();
const manySettings = (count: number, prefix = 'SETTING') =>
  z.object(Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}_${index}`, z.string()])));

it('a controller has 11 resources, and 40 controllers fit', () => {
  expect(checkStackLimits(controllers(1))).toEqual([]);
  expect(checkStackLimits(controllers(40))).toContain('493 resources, of at most 500 in a stack; it is nearly full');
  expect(() => checkStackLimits(controllers(41))).toThrow(
    '504 resources, of at most 500 in a stack; 40 controllers like these fit; move the others to a second project',
  );
});

it('a warning comes at 80 % of a limit, with the number that fits', () => {
  expect(checkStackLimits(controllers(31))).toEqual([]);
  expect(checkStackLimits(controllers(32))).toContain(
    '405 resources, of at most 500 in a stack; 40 controllers like these fit',
  );
});

it('more than 200 parameters, and more variables than a function can have, are refused', () => {
  const different = Array.from({ length: 21 }, (_, index) => only(`c-${index}`, manySettings(10, `S${index}`))).flat();
  expect(() => checkStackLimits(different)).toThrow(/^210 parameters, of at most 200 in a stack; 20 controllers/);
  expect(() => checkStackLimits(controllers(1, manySettings(40)))).toThrow(
    /bytes in a function's environment, of at most 4096 in a stack; give the controller fewer settings/,
  );
});

const woken = (name: string, ...values: readonly string[]) => {
  const wakes = [wake({ source: 'plant', detailType: 'Changed', detail: { tank: values } }, () => [])];
  return treeWith(name, { wakes });
};
const secrets = (count: number) =>
  z.object(Object.fromEntries(Array.from({ length: count }, (_, index) => [`TOKEN_OF_THE_SYSTEM_${index}`, secret()])));

it.each<[string, readonly ControllerDefinition[], RegExp]>([
  [
    'B12: an event pattern of more than 2,048 characters',
    [woken('tree', 'x'.repeat(2_000))],
    /^TreeWake1Rule \(Events that wake tree\): 2069 characters in the event pattern, of at most 2048 \(Amazon EventBridge quotas/,
  ],
  [
    'B12: a role with more than 10,240 characters of policies',
    only('tree', secrets(75)),
    /^TreeRole: \d+ characters in the inline/,
  ],
  [
    'B12: more rules than the policy of the function wake can hold',
    Array.from({ length: 60 }, (_, index) => woken(`tree-${index}`, 'x')),
    /^60 rules are \d+ bytes in the policy of the function wake, of at most 20480/,
  ],
])('%s is refused, with the quota of AWS', (_, registry, message) => {
  expect(() => checkResourceLimits(registry)).toThrow(message);
});

it('B12: an event pattern of 2,048 characters is accepted', () => {
  expect(() => checkResourceLimits([woken('tree', 'x'.repeat(1_979))])).not.toThrow();
});

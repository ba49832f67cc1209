// What generate reports of a registry near a limit of a stack. Compared with a packaged template: limits.test.ts.
import { expect, it } from 'vitest';
import * as z from 'zod';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { checkStackLimits } from '../../src/generate/aws/limits.ts';
import { only } from './sample-registry.ts';

const controllers = (count: number, settings?: z.ZodObject): readonly ControllerDefinition[] =>
  Array.from({ length: count }, (_, index) => only(`controller-${index}`, settings)).flat();
const manySettings = (count: number, prefix = 'SETTING') =>
  z.object(Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}_${index}`, z.string()])));

it('a controller has 11 resources, and 41 controllers fit', () => {
  expect(checkStackLimits(controllers(1))).toEqual([]);
  expect(checkStackLimits(controllers(41))).toContain('500 resources, of at most 500 in a stack; it is nearly full');
  expect(() => checkStackLimits(controllers(42))).toThrow(
    '511 resources, of at most 500 in a stack; 41 controllers like these fit; move the others to a second project',
  );
});

it('a warning comes at 80 % of a limit, with the number that fits', () => {
  expect(checkStackLimits(controllers(31))).toEqual([]);
  expect(checkStackLimits(controllers(32))).toContain(
    '401 resources, of at most 500 in a stack; 41 controllers like these fit',
  );
});

it('more than 200 parameters, and more variables than a function can have, are refused', () => {
  const different = Array.from({ length: 20 }, (_, index) => only(`c-${index}`, manySettings(10, `S${index}`))).flat();
  expect(() => checkStackLimits(different)).toThrow(/^204 parameters, of at most 200 in a stack; 19 controllers/);
  expect(() => checkStackLimits(controllers(1, manySettings(40)))).toThrow(
    /bytes in a function's environment, of at most 4096 in a stack; give the controller fewer settings/,
  );
});

// Only how objects of a kind are read and results are parsed, and how a controller is started; no cluster.
import { expect, it } from 'vitest';
import * as z from 'zod';
import { ok } from '../../src/api/conditions.ts';
import { defineKind } from '../../src/api/custom-kind.ts';
import { rulesOf, withRule } from '../../src/api/rule.ts';
import { InvalidResultError, InvalidSpecError, SettingsError, TerminalError } from '../../src/core/errors.ts';
import { describeKind } from '../../src/core/kind-names.ts';

const kind = defineKind({
  group: 'a.example.com',
  version: 'v1',
  kind: 'Thing',
  spec: withRule(
    z.object({ low: z.number(), high: z.number().default(10) }),
    { rule: 'self.low <= self.high', message: 'low must not be above high', fieldPath: '.low' },
    ({ low, high }) => low <= high,
  ),
  status: z.object({ seen: z.number(), parts: z.array(z.object({ name: z.string() })).optional() }),
  conditions: ['Made'],
});
const known = { name: 'a', namespace: 'n', uid: 'u', generation: 3, resourceVersion: '7', creationTimestamp: 'T' };
const metadata = { ...known, managedFields: [] };

it('an object that is read has its defaults, and nothing of metadata but what a reconciler needs', () => {
  expect(kind.read({ metadata, spec: { low: 1 } })).toEqual({ metadata: known, spec: { low: 1, high: 10 } });
});

it.each([
  ['a wrong type', { low: 'x' }, 'spec.low'],
  ['a missing field', {}, 'spec.low'],
  ['no spec', undefined, 'spec'],
  ['a broken rule', { low: 11 }, 'spec.low: low must not be above high'],
])('an object that is read with %s throws InvalidSpecError, naming the field', (_, spec, named) => {
  const read = () => kind.read({ metadata, spec });
  expect(read).toThrow(InvalidSpecError);
  expect(read).toThrow(named);
});

it.each([
  ['absent', undefined],
  ['unreadable', { seen: 'x' }],
  ['without its required fields', { observedGeneration: 2 }],
])('an object that is read has no status when its status is %s', (_, status) => {
  expect(kind.read({ metadata, spec: { low: 1 }, status })).not.toHaveProperty('status');
});

it('an object that is read has its conditions and the generation that they are of', () => {
  const conditions = [{ type: 'Ready', status: 'True', reason: 'Ready', message: '', observedGeneration: 3 }];
  const read = kind.read({ metadata, spec: { low: 1 }, status: { seen: 1, observedGeneration: 3, conditions } });
  expect(read).toMatchObject({
    status: { seen: 1 },
    observedGeneration: 3,
    conditions: [{ type: 'Ready', status: 'True' }],
  });
});

it.each([
  ['a wrong type', InvalidResultError, { seen: 'x' }, 'status.seen'],
  ['a missing field', InvalidResultError, {}, 'status.seen'],
  ['an unknown field', TerminalError, { seen: 1, colour: 'red' }, 'status.colour: unknown field'],
  [
    'an unknown field further in',
    TerminalError,
    { seen: 1, parts: [{ name: 'x', size: 2 }] },
    'status.parts.0.size: unknown field',
  ],
])('a result with %s is an error that names it', (_, error, status, named) => {
  const parse = () => kind.parseStatus(status);
  expect(parse).toThrow(error);
  expect(parse).toThrow(named);
});

it('a result may leave optional fields undefined', () => {
  expect(kind.parseStatus({ seen: 1, parts: undefined })).toEqual({ seen: 1 });
});

const controller = kind.controller('thing', {
  settings: z.object({ THING_URL: z.url(), THING_LIMIT: z.coerce.number() }),
  clients: (settings) => settings,
  reconcile: async () => ({ status: { seen: 1 }, conditions: { Made: { status: 'True', reason: 'Made' } } }),
});

it('a controller names every variable that is missing or wrong when it is started', () => {
  expect(() => controller.start({ THING_LIMIT: 'many' })).toThrow(SettingsError);
  expect(() => controller.start({ THING_LIMIT: 'many' })).toThrow(/THING_URL.*THING_LIMIT/);
});

it('a controller that makes no clients of its settings still names what is missing', () => {
  const plain = kind.controller('plain', {
    settings: z.object({ THING_URL: z.url() }),
    reconcile: async () => ({ status: { seen: 1 }, conditions: { Made: { status: 'True', reason: 'Made' } } }),
  });
  expect(() => plain.start({})).toThrow('THING_URL');
  plain.start({ THING_URL: 'http://thing' });
});

it('a controller takes an empty variable for one that is not set, because CloudFormation cannot leave one out', () => {
  const seen: unknown[] = [];
  const lenient = kind.controller('lenient', {
    settings: z.object({ A: z.string().optional(), B: z.coerce.number().default(3), C: z.string() }),
    clients: (settings) => seen.push(settings),
    reconcile: async () => ({ status: { seen: 1 }, conditions: { Made: { status: 'True', reason: 'Made' } } }),
  });
  lenient.start({ A: '', B: '', C: 'c' });
  expect(seen).toEqual([{ B: 3, C: 'c' }]);
  expect(() => lenient.start({ C: '' })).toThrow('C: ');
});

it('a strict schema of settings is not given the other variables of the function, and a loose one is', () => {
  const reconcile = async () => ({ status: { seen: 1 }, conditions: { Made: ok('Made') } });
  const seen: unknown[] = [];
  const clients = (settings: object) => seen.push(settings);
  for (const settings of [z.strictObject({ A: z.string() }), z.looseObject({ A: z.string() })])
    kind.controller('given', { settings, clients, reconcile }).start({ A: 'a', AWS_REGION: 'eu-north-1' });
  expect(seen).toEqual([{ A: 'a' }, { A: 'a', AWS_REGION: 'eu-north-1' }]);
});

it.each([
  ['WaterTank', 'watertanks'],
  ['NetworkPolicy', 'networkpolicies'],
  ['Ingress', 'ingresses'],
  ['Gateway', 'gateways'],
  ['Box', 'boxes'],
])('%s is %s in the plural', (given, plural) => {
  expect(describeKind({ group: '', version: 'v1', kind: given })).toMatchObject({ plural, apiVersion: 'v1' });
});

it('rules stay with a schema that gets another rule', () => {
  const one = withRule(z.object({ a: z.number() }), { rule: 'self.a > 0', message: 'one' }, ({ a }) => a > 0);
  const two = withRule(one, { rule: 'self.a < 9', message: 'two' }, ({ a }) => a < 9);
  expect(rulesOf(two).map(({ message }) => message)).toEqual(['one', 'two']);
  expect(two.safeParse({ a: 0 }).success).toBe(false);
  expect(two.safeParse({ a: 9 }).success).toBe(false);
});

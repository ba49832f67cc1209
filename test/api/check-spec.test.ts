// The declaration of a controller without the compiler's check: an option of another type, out of its limits, or
// unknown is an error that names the controller and the option. Excluded: the limits of numbers
// (test/core/controller-options.test.ts), and what the whole registry decides (test/generate).
import { expect, it } from 'vitest';
import * as z from 'zod';
import { waterTank } from '../../src/controllers/water-tank.ts';
import { SchemaError } from '../../src/core/errors.ts';
import { ConfigMap, Namespace } from '../../src/kubernetes.ts';
import { secret, wake } from '../../src/outrigger.ts';

const reconcile = async () => ({});
const declare = (spec: object) => () => ConfigMap.controller('maps', { reconcile, ...spec });
const watch = { kind: Namespace, label: 'app' };
const event = { source: 'plant', detailType: 'LevelChanged', mapToKeys: () => [] };

const grant = { apiGroups: [''], resources: ['pods'] };

/** Each option with values of another type, beside null, a string and NaN, which none accepts. */
const options: readonly (readonly [option: string, make: (value: unknown) => object])[] = [
  ...[
    ...['concurrency', 'reservedConcurrency', 'timeoutSeconds', 'memoryMb', 'batchSize', 'retry', 'rateLimit'],
    ...['resyncPeriodSeconds', 'owns', 'allows', 'reads', 'selector', 'changes', 'evidence', 'finalizer', 'settings'],
    ...['clients', 'exec', 'sets', 'watches', 'wakes', 'reconcile', 'finalize'],
  ].map((option) => [option, (value: unknown) => ({ [option]: value })] as const),
  ...['firstSeconds', 'maxSeconds', 'attempts'].map(
    (option) => [`retry.${option}`, (value: unknown) => ({ retry: { [option]: value } })] as const,
  ),
  ['rateLimit.perSecond', (perSecond) => ({ rateLimit: { perSecond } })],
  ['rateLimit.burst', (burst) => ({ rateLimit: { perSecond: 1, burst } })],
  ['owns.0', (kind) => ({ owns: [kind] })],
  ['reads.1', (kind) => ({ reads: [Namespace, kind] })],
  ['reads.0.of', (of) => ({ reads: [{ of, namespaces: ['a'] }] })],
  ['reads.0.namespaces', (namespaces) => ({ reads: [{ of: Namespace, namespaces }] })],
  ['allows.secrets', (secrets) => ({ allows: { secrets } })],
  ['allows.clusterRoles', (clusterRoles) => ({ allows: { clusterRoles } })],
  ['allows.grants.0', (grant) => ({ allows: { grants: [grant] } })],
  ...['*', 'bind', 'escalate', 'impersonate'].map(
    (verb) => ['allows.grants.0.verbs.0', () => ({ allows: { grants: [{ ...grant, verbs: [verb] }] } })] as const,
  ),
  ['allows.volumes', (volumes) => ({ allows: { volumes } })],
  ['allows.serviceTypes', (serviceTypes) => ({ allows: { serviceTypes } })],
  ['selector.matchLabels', (matchLabels) => ({ selector: { matchLabels } })],
  ['selector.namespaces', (namespaces) => ({ selector: { namespaces } })],
  ['selector.annotations', (annotations) => ({ selector: { annotations } })],
  ['selector.fields', (fields) => ({ selector: { fields } })],
  ['exec.commands', (commands) => ({ exec: { container: 'x', commands } })],
  ['sets.labels', (labels) => ({ sets: { labels } })],
  ['sets.annotations', (annotations) => ({ sets: { annotations } })],
  ['sets.labels.0', (key) => ({ sets: { labels: [typeof key === 'string' ? `a ${key}` : key] } })],
  ['watches.0', (one) => ({ watches: [one] })],
  ['watches.0.kind', (kind) => ({ watches: [{ ...watch, kind }] })],
  ['watches.0.selector', (selector) => ({ watches: [{ ...watch, selector }] })],
  ['watches.0.changes', (changes) => ({ watches: [{ ...watch, changes }] })],
  ['watches.0.via', (via) => ({ watches: [{ ...watch, via }] })],
  ['watches.0.mapToKeys', (mapToKeys) => ({ watches: [{ kind: Namespace, mapToKeys }] })],
  ['wakes.0', (one) => ({ wakes: [one] })],
  ['wakes.0.mapToKeys', (mapToKeys) => ({ wakes: [{ ...event, mapToKeys }] })],
];

/** The message of the SchemaError that a declaration throws. */
function messageOf(spec: object): string {
  try {
    declare(spec)();
  } catch (error) {
    if (error instanceof SchemaError) return error.message;
    throw error;
  }
  return 'accepted';
}

it.each(
  options,
)('null, a string, NaN and a negative number as %s are refused with the path of the option', (option, make) => {
  const messages = [null, 'x', Number.NaN, -1].map((value) => messageOf(make(value)));
  expect(messages.filter((one) => !one.startsWith(`controller maps.${option}: `))).toEqual([]);
});

it.each<[string, object]>([
  ['resyncPeriodSecond', { resyncPeriodSecond: 60 }],
  ['retry.attempt', { retry: { attempt: 3 } }],
  ['rateLimit.perMinute', { rateLimit: { perSecond: 1, perMinute: 1 } }],
  ['allows.hostPort', { allows: { hostPort: true } }],
  ['selector.matchFields', { selector: { matchFields: [] } }],
  ['exec.containers', { exec: { container: 'x', commands: [], containers: [] } }],
  ['sets.finalizers', { sets: { finalizers: [] } }],
  ['watches.0.labels', { watches: [{ ...watch, labels: {} }] }],
  ['watches.0.selector.fields', { watches: [{ ...watch, selector: { fields: {} } }] }],
])('the unknown option %s is refused with its path', (option, spec) => {
  expect(messageOf(spec)).toBe(`controller maps.${option}: is not an option; remove it, or correct its name`);
});

it.each<[string, object, string]>([
  ['a watch without a label or a function', { kind: Namespace }, 'watches.0: give label or mapToKeys'],
  ['a watch with both', { ...watch, mapToKeys: async () => [] }, 'watches.0: give label or mapToKeys'],
  [
    'a function with the kind of a label',
    { kind: Namespace, mapToKeys: async () => [], via: Namespace },
    'watches.0.via: is for a label; leave it out',
  ],
])('%s is refused', (_, one, message) => {
  expect(messageOf({ watches: [one] })).toBe(`controller maps.${message}`);
});

it.each<[string, z.ZodType, string]>([
  ['number', z.number(), 'z.coerce.number()'],
  ['optional integer', z.int().optional(), 'z.coerce.number()'],
  ['boolean with a default', z.boolean().default(true), 'z.stringbool()'],
  ['coerced boolean, which "false" makes true,', z.coerce.boolean().optional(), 'z.stringbool()'],
  ['list', z.array(z.string()), 'z.string().transform()'],
])('a setting that is a %s is refused, because no variable of the environment is one', (_, LIMIT, instead) => {
  const message = messageOf({ settings: z.object({ LIMIT }) });
  expect(message).toMatch(/^controller maps\.settings\.LIMIT: a setting is text, /);
  expect(message.endsWith(`: use ${instead}`)).toBe(true);
});

it('a setting that a text is parsed as is accepted', () => {
  const settings = z.object({
    A: z.coerce.number().int().min(1).default(3),
    B: z.stringbool().optional(),
    C: z.enum(['a', 'b']).default('a'),
    D: z.string().transform((text) => text.split(',')),
    E: z.preprocess((text) => Number(text), z.number()),
    F: secret().optional(),
    G: z.url(),
  });
  expect(messageOf({ settings })).toBe('accepted');
});

it('an option that is undefined counts as absent, and a controller is a valid spec of another one', () => {
  const absent = Object.fromEntries(options.map(([option]) => [option.split('.')[0], undefined]));
  expect(messageOf({ ...absent, reconcile })).toBe('accepted');
  expect(ConfigMap.controller('maps', { ...absent, reconcile }).declaration.options.resyncPeriodSeconds).toBe(3_600);
  expect(messageOf({ ...waterTank })).toBe('accepted');
});

it('an entry of wakes that was not made by wake is checked like one', () => {
  expect(messageOf({ wakes: [{ ...event, detail: { level: [] } }] })).toMatch(/^wake\.detail\.level: is an empty list/);
});

it.each<[string, unknown]>([
  ['wake.source', { source: null, detailType: 'b' }],
  ['wake.detailType', { source: 'a' }],
  ['wake', null],
])('a wake without a text as %s is refused with the path', (path, pattern) => {
  expect(() => wake(pattern as never, () => [])).toThrow(`${path}: `);
});

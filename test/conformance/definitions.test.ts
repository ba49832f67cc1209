// Conformance: CustomResourceDefinitions: their validation, the time from which a new kind is served, and the deletion
// of their objects.
import { expect, it, vi } from 'vitest';
import { type Body, hasCondition } from './body.ts';
import { gadgetGroup } from './gadget.ts';
import { useSuite } from './suite.ts';

const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

// A real server needs some seconds to start or stop serving a kind.
const servedWithin = { timeout: 15_000, interval: 100 };

const mapKeys = 'x-kubernetes-list-map-keys';
const text = { type: 'string' };
const field = (a: object): object => ({ type: 'object', properties: { a } });
const listMap = (keys: string[]): object => ({
  type: 'array',
  'x-kubernetes-list-type': 'map',
  [mapKeys]: keys,
  items: { type: 'object', properties: { b: text } },
});

/** Returns a definition. `schema` is its root schema; null stands for no schema. */
function definition(plural: string, schema: object | null = { type: 'object' }): object {
  const versions = [
    { name: 'v1', served: true, storage: true, ...(schema && { schema: { openAPIV3Schema: schema } }) },
  ];
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${gadgetGroup}` },
    spec: { group: gadgetGroup, scope: 'Cluster', names: { plural, kind: kindOf(plural) }, versions },
  };
}

const { wire } = await useSuite();

const pluralOf = (): string => `k${crypto.randomUUID().replaceAll('-', '')}s`;
const objectOf = (plural: string): object => ({
  apiVersion: `${gadgetGroup}/v1`,
  kind: kindOf(plural),
  metadata: { name: 'one' },
});
/** Creates a definition and returns it when it is Established. */
const established = async (plural: string, schema?: object): Promise<Body> => {
  await wire.post(definitionsPath, definition(plural, schema));
  await using watch = await wire.watch(definitionsPath, { fieldSelector: `metadata.name=${plural}.${gadgetGroup}` });
  const frames = await watch.until(({ object }) => hasCondition(object, 'Established'));
  return frames.at(-1)?.object ?? {};
};

it('a new definition gets its missing names and becomes Established, and its objects can be created', async () => {
  const plural = pluralOf();
  const { metadata, spec, status } = await established(plural);
  expect(metadata?.finalizers).toBeUndefined();
  const names = {
    plural,
    singular: kindOf(plural).toLowerCase(),
    kind: kindOf(plural),
    listKind: `${kindOf(plural)}List`,
  };
  expect(spec).toMatchObject({ names, conversion: { strategy: 'None' } });
  expect(status).toMatchObject({
    acceptedNames: names,
    storedVersions: ['v1'],
    conditions: [
      { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts' },
      { type: 'Established', status: 'True', reason: 'InitialNamesAccepted' },
    ],
  });
  expect((await wire.post(`/apis/${gadgetGroup}/v1/${plural}`, objectOf(plural))).status).toBe(201);
  await wire.remove(`${definitionsPath}/${plural}.${gadgetGroup}`);
});

it('a watch of a kind ends when the kind’s definition is changed or deleted, but not for a label of it', async () => {
  const plural = pluralOf();
  const path = `${definitionsPath}/${plural}.${gadgetGroup}`;
  const objects = `/apis/${gadgetGroup}/v1/${plural}`;
  await established(plural);
  // A real server responds with 429 while it makes the storage of the kind.
  const opened = async () => await vi.waitFor(async () => await wire.watch(objects), servedWithin);
  const changed = await opened();
  await wire.mergePatch(path, { metadata: { labels: { a: 'b' } } });
  await wire.post(objects, objectOf(plural));
  expect((await changed.next()).type).toBe('ADDED');
  await wire.mergePatch(path, { spec: { names: { shortNames: [plural.slice(0, 9)] } } });
  expect(await changed.rest()).toEqual([]);
  const deleted = await opened();
  await wire.remove(path);
  expect((await deleted.rest()).map(({ type }) => type)).toEqual(['ADDED', 'DELETED']);
});

it('a deletion of a definition deletes its objects, and the kind is no longer served', async () => {
  const plural = pluralOf();
  const path = `${definitionsPath}/${plural}.${gadgetGroup}`;
  await established(plural);
  expect((await wire.post(`/apis/${gadgetGroup}/v1/${plural}`, objectOf(plural))).status).toBe(201);
  await wire.remove(path);
  await expect.poll(async () => (await wire.get(path)).status, servedWithin).toBe(404);
  await expect.poll(async () => (await wire.get(`/apis/${gadgetGroup}/v1/${plural}`)).status, servedWithin).toBe(404);
});

it('a changed schema of a definition applies its defaults, also empty ones but not null, to stored objects on read', async () => {
  const plural = pluralOf();
  const path = `${definitionsPath}/${plural}.${gadgetGroup}`;
  await established(plural);
  await wire.post(`/apis/${gadgetGroup}/v1/${plural}`, objectOf(plural));
  const properties = {
    size: { type: 'integer', default: 7 },
    list: { type: 'array', items: text, default: [] },
    map: { type: 'object', default: {} },
    none: { ...text, default: null },
  };
  const changed = await wire.apply(path, 'conformance', definition(plural, { type: 'object', properties }), {
    force: true,
  });
  expect(changed.body.metadata?.generation).toBe(2);
  expect(changed.text).not.toContain('"default":null');
  const read = async () => JSON.parse((await wire.get(`/apis/${gadgetGroup}/v1/${plural}/one`)).text);
  await expect.poll(read, servedWithin).toMatchObject({ size: 7, list: [], map: {} });
  expect(await read()).not.toHaveProperty('none');
  await wire.remove(path);
});

/** Expects that a definition with this root schema is Invalid, with a message at a path below it. */
async function expectInvalid(schema: object | null, at: string, message: string): Promise<void> {
  const root = schema === null ? 'spec.versions[0].schema.openAPIV3Schema' : 'spec.validation.openAPIV3Schema';
  const rejected = await wire.post(definitionsPath, definition(pluralOf(), schema));
  expect(rejected.status).toBe(422);
  expect(rejected.body.details?.causes?.find((cause) => cause.field === `${root}${at}`)?.message).toContain(message);
}

const rules = 'x-kubernetes-validations';

it('rules can call the functions of lists, sets, regex and quantity', async () => {
  const all = [
    "self.a.isSorted() && self.a.min() == 'a' && self.a.max() == 'b' && self.a.indexOf('b') == self.a.lastIndexOf('b')",
    '[1, 2].sum() == 3 && [1.5].sum() == 1.5',
    "sets.contains(self.a, ['b']) && sets.equivalent(self.a, ['b', 'a', 'b']) && !sets.intersects(self.a, ['c'])",
    "'a 12'.find('[0-9]+') == '12' && '1 b 2'.findAll('[0-9]') == ['1', '2'] && '1 2'.findAll('[0-9]', 1) == ['1']",
    "quantity('1Gi').isGreaterThan(quantity('1G')) && !isQuantity('1Q')",
    "['1000m', '1.0', '0.5Ki', '1.5Gi', '1Pi', '7Ei', '9223372036854775807', '0m'].all(q, !quantity(q).isInteger())",
    "['0', '1e3', '1.5k', '1.50k', '0.001k', '1Ki', '1Ti', '9E'].all(q, quantity(q).isInteger())",
    "quantity('1.5k').add(quantity('0.5k')).isInteger() && !quantity('1.5').add(quantity('0.5')).isInteger()",
  ];
  const plural = pluralOf();
  const list = { type: 'array', items: { type: 'string', maxLength: 9 }, maxItems: 9 };
  await established(plural, { ...field(list), [rules]: all.map((rule) => ({ rule })) });
  const objects = `/apis/${gadgetGroup}/v1/${plural}`;
  const create = async (name: string, a: string[]) =>
    (await wire.post(objects, { ...objectOf(plural), metadata: { name }, a })).status;
  await expect.poll(async () => await create('sorted', ['a', 'b']), servedWithin).toBe(201);
  expect(await create('reversed', ['b', 'a'])).toBe(422);
  await wire.remove(`${definitionsPath}/${plural}.${gadgetGroup}`);
});
const ofMetadata = { metadata: { type: 'object', properties: { labels: { type: 'object' } } } };
const wrongRule = { ...field({ type: 'integer' }), [rules]: [{ rule: 'self.b > 1' }] };
const onlyNames = 'must not specify anything other than name and generateName';
it.each<[string, object | null, string, string]>([
  ['no schema', null, '', 'Required value'],
  ['no type at the root', { properties: {} }, '.type', 'Required value: must not be empty at the root'],
  ['a rule that does not compile', wrongRule, `.${rules}[0].rule`, "undefined field 'b'"],
  ['a schema of metadata', { type: 'object', properties: ofMetadata }, '.properties[metadata]', onlyNames],
])('a definition with %s is Invalid', async (_what, schema, at, message) => await expectInvalid(schema, at, message));

const properties = { b: text };
const objects = { type: 'array', items: { type: 'object' } };
const exclusive = 'Forbidden: additionalProperties and properties are mutual exclusive';
const atomic = 'Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set';
const unknownPath = {
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
  'x-kubernetes-validations': [{ rule: 'true', fieldPath: '.b' }],
};
const foreignKey = 'Invalid value: ["c"]: entries must all be names of item properties';
const transition = { type: 'string', maxLength: 9, [rules]: [{ rule: 'self == oldSelf' }] };
const apart = 'oldSelf cannot be used on the uncorrelatable portion of the schema within ';
const optionalKey = 'it must have a default or be a required property';
it.each<[string, object, string, string]>([
  ['no type', {}, '.type', 'Required value: must not be empty for specified object fields'],
  ['a default of another type', { type: 'integer', default: 'x' }, '.default', 'must be of type integer'],
  ['an unknown type', { type: 'text' }, '.type', 'Unsupported value: "text"'],
  ['the type of a list without items', { type: 'array' }, '.items', 'Required value: must be specified'],
  [
    'properties and additionalProperties',
    { type: 'object', properties, additionalProperties: text },
    '.additionalProperties',
    exclusive,
  ],
  ['a set of objects', { ...objects, 'x-kubernetes-list-type': 'set' }, '.items.x-kubernetes-map-type', atomic],
  ['a list-map without keys', listMap([]), `.${mapKeys}`, 'must not be empty if x-kubernetes-list-type is map'],
  ['a list-map with a key that its items do not have', listMap(['c']), `.${mapKeys}`, foreignKey],
  ['a rule with the path of an unknown field', unknownPath, `.${rules}[0].fieldPath`, 'Invalid value: ".b": must be a'],
  [
    'a rule with oldSelf in a list without keys',
    { type: 'array', maxItems: 9, items: field(transition) },
    `.items.properties[a].${rules}[0].rule`,
    `Invalid value: "self == oldSelf": ${apart}spec.validation.openAPIV3Schema.properties[a]`,
  ],
  [
    'an optional oldSelf that its rule does not use',
    { ...text, [rules]: [{ rule: 'true', optionalOldSelf: true }] },
    `.${rules}[0].optionalOldSelf`,
    'may not be set if oldSelf is not used in rule',
  ],
  [
    'a default with an unknown field',
    { ...field(text), default: { b: '' } },
    '.default',
    'must not have unknown fields',
  ],
  [
    'a type in an alternative',
    { ...text, anyOf: [{ type: 'string' }] },
    '.anyOf[0].type',
    'must be empty to be struct',
  ],
  [
    'a type in a field of an alternative',
    { ...field(text), not: { properties: { a: text } } },
    '.not.properties[a].type',
    'must be empty to be struct',
  ],
  ['a list-map with an optional key without default', listMap(['b']), '.items.properties[b].default', optionalKey],
])('a definition of a field with %s is Invalid', async (_what, a, at, message) => {
  await expectInvalid(field(a), `.properties[a]${at}`, message);
});

it('a version shows its own fields alone, and of those of another version the storage version decides', async () => {
  const plural = pluralOf();
  const path = `${definitionsPath}/${plural}.${gadgetGroup}`;
  const version = (name: string, storage: boolean, ...fields: string[]) => {
    const openAPIV3Schema = { type: 'object', properties: Object.fromEntries(fields.map((one) => [one, text])) };
    return { name, served: true, storage, schema: { openAPIV3Schema } };
  };
  await established(plural);
  await wire.mergePatch(path, { spec: { versions: [version('v1', true, 'a', 'b'), version('v2', false, 'b', 'c')] } });
  const at = (name: string) => `/apis/${gadgetGroup}/${name}/${plural}`;
  const contentOf = ({ text: json }: { readonly text: string }): object => {
    const { a, b, c } = JSON.parse(json);
    return JSON.parse(JSON.stringify({ a, b, c }));
  };
  const all = { a: 'a', b: 'b', c: 'c' };
  const make = async () => (await wire.get(at('v2'))).status;
  await expect.poll(make, servedWithin).toBe(200);
  expect(contentOf(await wire.post(at('v1'), { ...objectOf(plural), ...all }))).toEqual({ a: 'a', b: 'b' });
  expect(contentOf(await wire.get(`${at('v2')}/one`))).toEqual({ b: 'b' });
  expect(contentOf(await wire.mergePatch(`${at('v2')}/one`, { c: 'c' }))).toEqual({ b: 'b' });
  expect(contentOf(await wire.mergePatch(`${at('v2')}/one`, { b: 'd' }))).toEqual({ b: 'd' });
  expect(contentOf(await wire.get(`${at('v1')}/one`))).toEqual({ b: 'd' });
  await wire.remove(path);
});

it('a field that has left the schema is not shown', async () => {
  const plural = pluralOf();
  const path = `${definitionsPath}/${plural}.${gadgetGroup}`;
  await established(plural, { type: 'object', properties: { a: text, b: text } });
  const objects = `/apis/${gadgetGroup}/v1/${plural}`;
  const make = async () => (await wire.post(objects, { ...objectOf(plural), a: 'a', b: 'b' })).status;
  await expect.poll(make, servedWithin).toBe(201);
  await wire.apply(path, 'conformance', definition(plural, field(text)), { force: true });
  const fields = async () => Object.keys(JSON.parse((await wire.get(`${objects}/one`)).text)).sort();
  await expect.poll(fields, servedWithin).toEqual(['a', 'apiVersion', 'kind', 'metadata']);
  await wire.remove(path);
});

it('a replacement without a change stores an object anew if the kind is stored in another version by now', async () => {
  const plural = pluralOf();
  const path = `${definitionsPath}/${plural}.${gadgetGroup}`;
  await established(plural, field(text));
  const one = (name: string) => `/apis/${gadgetGroup}/${name}/${plural}/one`;
  const make = async () => (await wire.post(one('v1').replace('/one', ''), { ...objectOf(plural), a: 'a' })).status;
  await expect.poll(make, servedWithin).toBe(201);
  const versions = ['v1', 'v2'].map((name) => {
    return { name, served: true, storage: name === 'v2', schema: { openAPIV3Schema: field(text) } };
  });
  await wire.mergePatch(path, { spec: { versions } });
  await expect.poll(async () => (await wire.get(one('v2'))).status, servedWithin).toBe(200);
  const { body } = await wire.get(one('v2'));
  const rewritten = await wire.put(one('v2'), body);
  expect(rewritten.body.metadata?.resourceVersion).not.toBe(body.metadata?.resourceVersion);
  expect(rewritten.body.metadata?.generation).toBe(1);
  const again = await wire.put(one('v2'), rewritten.body);
  expect(again.body.metadata?.resourceVersion).toBe(rewritten.body.metadata?.resourceVersion);
  // The storage version is filled in only if there is none.
  for (const given of [['v1'], [], ['v2']]) {
    await wire.mergePatch(`${path}/status`, { status: { storedVersions: given } });
    const storedVersions = given.length === 0 ? ['v2'] : given;
    expect((await wire.get(path)).body.status).toMatchObject({ storedVersions });
  }
  await wire.remove(path);
});

it('rules compare and add lists of type set and map without their order', async () => {
  const plural = pluralOf();
  const set = { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string', maxLength: 9 }, maxItems: 9 };
  const key = { type: 'string', maxLength: 9 };
  const items = { type: 'object', required: ['k'], properties: { k: key, v: key } };
  const map = { type: 'array', 'x-kubernetes-list-type': 'map', [mapKeys]: ['k'], items, maxItems: 9 };
  const all = [
    'self == oldSelf && !(self != oldSelf) && self.set == oldSelf.set && self.map == oldSelf.map',
    "self.set == ['b', 'a'] && self.set + ['b', 'c'] == ['c', 'b', 'a'] && (self.set + ['b']).size() == 2",
    "!(self.set == ['a', 'c']) && !(self.set == ['a', 'b', 'b']) && !(['b', 'a'] == oldSelf.set)",
    '(self.map + self.map).size() == 2 && (self.map + oldSelf.map)[0].k == self.map[0].k',
  ];
  const schema = { type: 'object', properties: { set, map }, [rules]: all.map((rule) => ({ rule })) };
  await established(plural, { type: 'object', properties: { a: schema } });
  const objects = `/apis/${gadgetGroup}/v1/${plural}`;
  const [x, y] = [
    { k: 'x', v: '1' },
    { k: 'y', v: '2' },
  ];
  const a = { set: ['a', 'b'], map: [x, y] };
  await expect.poll(async () => (await wire.post(objects, { ...objectOf(plural), a })).status, servedWithin).toBe(201);
  const write = async (changed: object) => (await wire.mergePatch(`${objects}/one`, { a: changed })).body;
  expect(await write({ set: ['b', 'a'], map: [y, x] })).toMatchObject({ a: { set: ['b', 'a'], map: [y, x] } });
  expect(await write({ set: ['b', 'c'] })).toMatchObject({ code: 422 });
  expect(await write({ map: [y, { ...x, v: '2' }] })).toMatchObject({ code: 422 });
  await wire.remove(`${definitionsPath}/${plural}.${gadgetGroup}`);
});

it('a definition that is being deleted takes no new objects', async () => {
  const plural = pluralOf();
  const path = `${definitionsPath}/${plural}.${gadgetGroup}`;
  await established(plural);
  const objects = `/apis/${gadgetGroup}/v1/${plural}`;
  const held = { ...objectOf(plural), metadata: { name: 'held', finalizers: ['example.org/hold'] } };
  await expect.poll(async () => (await wire.post(objects, held)).status, servedWithin).toBe(201);
  await wire.remove(path);
  const make = async () => (await wire.post(objects, objectOf(plural))).body;
  const message = expect.stringContaining('create not allowed while custom resource definition is terminating');
  await expect.poll(make, servedWithin).toMatchObject({ code: 403, reason: 'Forbidden', message });
  await wire.mergePatch(`${objects}/held`, { metadata: { finalizers: null } });
});

it('a rule compares a date as a time', async () => {
  const plural = pluralOf();
  const rule = "self < timestamp('2026-01-02T00:00:00Z')";
  await established(plural, field({ type: 'string', format: 'date', [rules]: [{ rule }] }));
  const make = async (a: string) =>
    (await wire.post(`/apis/${gadgetGroup}/v1/${plural}`, { ...objectOf(plural), a })).body.message ?? 'made';
  await expect.poll(() => make('2026-01-02'), servedWithin).toContain(`failed rule: ${rule}`);
  expect(await make('2026-01-01')).toBe('made');
  await wire.remove(`${definitionsPath}/${plural}.${gadgetGroup}`);
});

it.each([
  ['a look-ahead', '^(?!x)'],
  ['a reference to a group', '(a)\\1'],
  ['the code point of a character', '[\\u00e9]'],
  ['nested repeats of more than 1,000', '^([a-z]{1,63}[.]){1,32}$'],
  ['a property of JavaScript', '\\p{Script=Greek}'],
])('a definition with a pattern with %s, which Go does not know, is Invalid', async (_what, pattern) => {
  const notInGo = "must be a valid regular expression, but isn't";
  await expectInvalid(field({ type: 'string', pattern }), '.properties[a].pattern', notInGo);
});

it.each<[string, object]>([
  ['properties and additionalProperties that are true', { properties, additionalProperties: true }],
  ['empty properties and a schema of additionalProperties', { properties: {}, additionalProperties: text }],
])('a definition with %s is accepted', async (_what, keywords) => {
  const schema = field({ type: 'object', ...keywords });
  const made = await wire.post(definitionsPath, definition(pluralOf(), schema), { dryRun: 'All' });
  expect(made).toMatchObject({ status: 201 });
});

it.each([
  ['^[\\x{20}-\\x{7E}]$', 'a', 'é'],
  ['^a\\\\1$', 'a\\1', 'a1'],
  ['^[(?=]$', '=', 'a'],
  ['^a\\12$', 'a\n', 'a12'],
  ['(?i)^a$', 'A', 'b'],
  ['^(?P<one>a)$', 'a', 'b'],
])('the pattern %s, which JavaScript reads in another way or not at all, is checked as Go reads it', async (pattern, good, bad) => {
  const plural = pluralOf();
  const path = `/apis/${gadgetGroup}/v1/${plural}`;
  await established(plural, field({ type: 'string', pattern }));
  const make = async (a: string) => (await wire.post(path, { ...objectOf(plural), a })).status;
  // A real server responds with 429 until it has made the storage of the kind.
  await expect.poll(() => make(bad), servedWithin).toBe(422);
  expect(await make(good)).toBe(201);
  await wire.remove(`${definitionsPath}/${plural}.${gadgetGroup}`);
});

it.each<[string, string, object]>([
  [
    'removes a version with stored objects',
    'status.storedVersions[0]',
    { versions: [{ name: 'v2', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }] },
  ],
  ['changes the kind', 'spec.names.kind', { names: { kind: 'Other' } }],
])('a patch of a definition that %s is Invalid at %s', async (_what, field, spec) => {
  const plural = pluralOf();
  await established(plural);
  const path = `${definitionsPath}/${plural}.${gadgetGroup}`;
  const rejected = await wire.mergePatch(path, { spec });
  expect(rejected.body.details?.causes).toEqual([expect.objectContaining({ reason: 'FieldValueInvalid', field })]);
  await wire.remove(path);
});

it('a wrong type in an object of a kind without rules is its only cause', async () => {
  const plural = pluralOf();
  await established(plural, { type: 'object', properties: { size: { type: 'integer' } } });
  const make = async () =>
    (await wire.post(`/apis/${gadgetGroup}/v1/${plural}`, { ...objectOf(plural), size: 'x' })).body.details?.causes;
  // A real server responds with 429 until it has made the storage of the kind.
  await expect.poll(make, servedWithin).toEqual([expect.objectContaining({ field: 'size' })]);
  await wire.remove(`${definitionsPath}/${plural}.${gadgetGroup}`);
});

it('responses of a deprecated version warn, and name the version to use', async () => {
  const plural = pluralOf();
  await established(plural);
  const path = `${definitionsPath}/${plural}.${gadgetGroup}`;
  const schema = { openAPIV3Schema: { type: 'object' } };
  const versions = [
    { name: 'v1', served: true, storage: true, schema },
    { name: 'v1beta1', served: true, storage: false, deprecated: true, schema },
  ];
  await wire.mergePatch(path, { spec: { versions } });
  const warnings = async (version: string) => (await wire.get(`/apis/${gadgetGroup}/${version}/${plural}`)).warnings;
  const [old, best] = ['v1beta1', 'v1'].map((version) => `${gadgetGroup}/${version} ${kindOf(plural)}`);
  await expect.poll(() => warnings('v1beta1'), servedWithin).toEqual([`${old} is deprecated; use ${best}`]);
  expect(await warnings('v1')).toEqual([]);
  await wire.remove(path);
});

it('a definition with another name than its plural and group is Invalid', async () => {
  const rejected = await wire.post(definitionsPath, { ...definition(pluralOf()), metadata: { name: 'x' } });
  expect(rejected.body.details?.causes).toContainEqual({
    reason: 'FieldValueInvalid',
    message: 'Invalid value: "x": must be spec.names.plural+"."+spec.group',
    field: 'metadata.name',
  });
});

it('a definition whose short name or kind is no DNS label is Invalid', async () => {
  const plural = pluralOf();
  const names = { plural, kind: 'My Kind', shortNames: ['ok', 'Wt'] };
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }];
  const spec = { group: gadgetGroup, scope: 'Cluster', names, versions };
  const rejected = await wire.post(definitionsPath, { ...definition(plural), spec });
  const rule = 'a DNS-1035 label must consist of lower case alphanumeric characters';
  const mixed = `may have mixed case, but should otherwise match: ${rule}`;
  const expected = [
    ['singular', `"my kind": ${rule}`],
    ['kind', `"My Kind": ${mixed}`],
    ['listKind', `"My KindList": ${mixed}`],
    ['shortNames[1]', `"Wt": ${rule}`],
  ];
  expect(rejected.body.details?.causes).toEqual(
    expected.map(([field, value = '']) => ({
      reason: 'FieldValueInvalid',
      field: `spec.names.${field}`,
      message: expect.stringContaining(`Invalid value: ${value}`),
    })),
  );
});

function kindOf(plural: string): string {
  return plural.charAt(0).toUpperCase() + plural.slice(1, -1);
}

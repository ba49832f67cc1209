// Conformance: CustomResourceDefinitions: what is refused, when a new kind is served, and what its end takes along.
import { expect, it } from 'vitest';
import { type Body, hasCondition } from './body.ts';
import { GROUP } from './gadget.ts';
import type { Suite } from './suite.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

// Serving a new kind, or ceasing to, takes a real server up to some seconds.
const SERVED_WITHIN = { timeout: 15_000, interval: 100 };

/** Returns a definition of its own plural and kind; `schema` is its root schema, none where it is null. */
function definition(plural: string, schema: object | null = { type: 'object' }): object {
  const versions = [
    { name: 'v1', served: true, storage: true, ...(schema && { schema: { openAPIV3Schema: schema } }) },
  ];
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: { group: GROUP, scope: 'Cluster', names: { plural, kind: kindOf(plural) }, versions },
  };
}

/** Declares the cases. */
export function definitionCases({ wire }: Suite): void {
  const pluralOf = (): string => `k${crypto.randomUUID().replaceAll('-', '')}s`;
  const objectOf = (plural: string): object => ({
    apiVersion: `${GROUP}/v1`,
    kind: kindOf(plural),
    metadata: { name: 'one' },
  });
  /** Installs a definition and returns it as it is when Established. */
  const established = async (plural: string): Promise<Body> => {
    await wire.post(DEFINITIONS, definition(plural));
    await using watch = await wire.watch(DEFINITIONS, { fieldSelector: `metadata.name=${plural}.${GROUP}` });
    const frames = await watch.until(({ object }) => hasCondition(object, 'Established'));
    return frames.at(-1)?.object ?? {};
  };

  it('a definition gets its other names and becomes Established; then its objects can be written', async () => {
    const plural = pluralOf();
    const { spec, status } = await established(plural);
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
    expect((await wire.post(`/apis/${GROUP}/v1/${plural}`, objectOf(plural))).status).toBe(201);
    await wire.remove(`${DEFINITIONS}/${plural}.${GROUP}`);
  });

  it('a deleted definition takes its objects along and is no longer served', async () => {
    const plural = pluralOf();
    const path = `${DEFINITIONS}/${plural}.${GROUP}`;
    await established(plural);
    expect((await wire.post(`/apis/${GROUP}/v1/${plural}`, objectOf(plural))).status).toBe(201);
    await wire.remove(path);
    await expect.poll(async () => (await wire.get(path)).status, SERVED_WITHIN).toBe(404);
    await expect.poll(async () => (await wire.get(`/apis/${GROUP}/v1/${plural}`)).status, SERVED_WITHIN).toBe(404);
  });

  it('a changed schema counts for what is stored already: its defaults show in the next read', async () => {
    const plural = pluralOf();
    const path = `${DEFINITIONS}/${plural}.${GROUP}`;
    await established(plural);
    await wire.post(`/apis/${GROUP}/v1/${plural}`, objectOf(plural));
    const properties = { size: { type: 'integer', default: 7 } };
    const changed = await wire.apply(path, 'conformance', definition(plural, { type: 'object', properties }), {
      force: true,
    });
    expect(changed.body.metadata?.generation).toBe(2);
    const read = async () => JSON.parse((await wire.get(`/apis/${GROUP}/v1/${plural}/one`)).text);
    await expect.poll(read, SERVED_WITHIN).toMatchObject({ size: 7 });
    await wire.remove(path);
  });

  it.each([
    ['no schema', null, 'spec.versions[0].schema.openAPIV3Schema', 'Required value'],
    [
      'no type at the root',
      { properties: {} },
      'spec.validation.openAPIV3Schema.type',
      'Required value: must not be empty at the root',
    ],
    [
      'a field without type',
      { type: 'object', properties: { a: {} } },
      'spec.validation.openAPIV3Schema.properties[a].type',
      'Required value: must not be empty for specified object fields',
    ],
    [
      'a default of another type',
      { type: 'object', properties: { a: { type: 'integer', default: 'x' } } },
      'spec.validation.openAPIV3Schema.properties[a].default',
      'must be of type integer',
    ],
    [
      'a rule that does not compile',
      { type: 'object', properties: { a: { type: 'integer' } }, 'x-kubernetes-validations': [{ rule: 'self.b > 1' }] },
      'spec.validation.openAPIV3Schema.x-kubernetes-validations[0].rule',
      "undefined field 'b'",
    ],
  ])('a definition with %s is Invalid', async (_what, schema, field, message) => {
    const plural = pluralOf();
    const refused = await wire.post(DEFINITIONS, definition(plural, schema));
    expect(refused.status).toBe(422);
    expect(refused.body.details?.causes?.find((cause) => cause.field === field)?.message).toContain(message);
  });

  it('a definition is named by its plural and its group', async () => {
    const refused = await wire.post(DEFINITIONS, { ...definition(pluralOf()), metadata: { name: 'x' } });
    expect(refused.body.details?.causes).toContainEqual({
      reason: 'FieldValueInvalid',
      message: 'Invalid value: "x": must be spec.names.plural+"."+spec.group',
      field: 'metadata.name',
    });
  });
}

function kindOf(plural: string): string {
  return plural.charAt(0).toUpperCase() + plural.slice(1, -1);
}

// Types from a CustomResourceDefinition: a module with a foreign kind, the TypeScript types of its objects, and where
// asked a zod schema. Only what the API server validates is a type; other fields are unknown.

import type { StatusForm } from 'outrigger/internal/api/status-slice';
import { SchemaError } from 'outrigger/internal/core/errors';
import { formatZodIssues } from 'outrigger/internal/core/json';
import * as z from 'zod';
import { docLines, type ImportedSchema, schemaShape } from './imported-schema.ts';
import { tsType } from './ts-type.ts';
import { zodSchema } from './zod-schema.ts';

const definition = z.object({
  apiVersion: z.literal('apiextensions.k8s.io/v1'),
  kind: z.literal('CustomResourceDefinition'),
  // It is written into a comment: a line break in it would begin code.
  metadata: z.object({ name: z.string().regex(/^[a-z0-9.-]+$/) }),
  spec: z.object({
    group: z.string().regex(/^[a-z0-9.-]+$/),
    scope: z.enum(['Namespaced', 'Cluster']),
    names: z.object({ kind: z.string().regex(/^[A-Z][A-Za-z0-9]*$/), plural: z.string().regex(/^[a-z0-9-]+$/) }),
    versions: z
      .array(
        z.object({
          name: z.string().regex(/^[a-z0-9]+$/),
          served: z.boolean(),
          storage: z.boolean(),
          schema: z.object({ openAPIV3Schema: z.unknown() }).optional(),
          subresources: z.object({ status: z.unknown() }).partial().optional(),
        }),
      )
      .min(1),
  }),
});
type Definition = z.infer<typeof definition>;

/** What is imported. */
export type ImportOptions = {
  /** The version. Default: the one that is stored, if it is served, and else the first one that is served. */
  readonly version?: string | undefined;
  /** Whether a zod schema is written as well. */
  readonly withZod?: boolean;
  /** Where the module imports `foreignKind` from. */
  readonly source?: string;
};

/** The module of a kind. */
export type ImportedKind = {
  /** The name of the CRD. */
  readonly name: string;
  readonly kind: string;
  readonly version: string;
  /** TypeScript. */
  readonly text: string;
};

/** The first line of every module: one without it is not overwritten. */
export const importedHeader = '// Written by outrigger import crd from';

/**
 * Makes the module of a CRD. Throws SchemaError for an object that is no CRD, and without such a version or a schema.
 */
export function importCrd(
  crd: unknown,
  { version: requested, withZod = false, source = 'outrigger' }: ImportOptions = {},
): ImportedKind {
  const parsed = definition.safeParse(crd);
  if (!parsed.success) throw new SchemaError('CustomResourceDefinition', formatZodIssues(parsed.error));
  const { metadata, spec } = parsed.data;
  const { group, names, scope } = spec;
  const version = versionOf(parsed.data, requested);
  const { kind, plural } = names;
  const read = schemaShape.safeParse(version.schema?.openAPIV3Schema ?? { type: 'object' });
  if (!read.success)
    throw new SchemaError(`${metadata.name}, the schema of ${version.name}`, formatZodIssues(read.error));
  const schema = read.data;
  const isCluster = scope === 'Cluster';
  const type = `${kind}Object`;
  const fields = [
    `group: '${group}'`,
    `version: '${version.name}'`,
    `kind: '${kind}'`,
    `plural: '${plural}'`,
    ...(isCluster ? [`scope: 'Cluster'`] : []),
    ...statusForm(schema, version.subresources?.status !== undefined),
  ];
  const lines = [
    `${importedHeader} ${metadata.name}, version ${version.name}. Run it again after a change of the CRD.`,
    `import { foreignKind } from '${source}';`,
    ...(withZod ? [`import * as z from 'zod';`] : []),
    '',
    `/** The kind, as an entry of owns, reads or watches. */`,
    `export const ${kind} = /* @__PURE__ */ foreignKind<${type}, '${kind}'${isCluster ? `, 'Cluster'` : ''}>({`,
    ...fields.map((field) => `  ${field},`),
    '});',
    '',
    ...docLines(schema.description),
    `export type ${type} = ${tsType(objectOf(schema))};`,
    '',
    ...(withZod
      ? [
          '/** The same as a schema. Fields that the CRD does not name are kept. */',
          `export const ${kind}Schema = ${zodSchema(objectOf(schema))};`,
          '',
        ]
      : []),
  ];
  return { name: metadata.name, kind, version: version.name, text: lines.join('\n') };
}

/** The `status` of a foreign kind, if there is something to say of it. */
function statusForm({ properties }: ImportedSchema, isSubresource: boolean): readonly string[] {
  const form = (text: StatusForm) => [`status: '${text}'`];
  if (!isSubresource) return form('no-subresource');
  const condition = properties?.status?.properties?.conditions?.items?.properties;
  return condition?.observedGeneration === undefined ? [] : form('observed-conditions');
}

function versionOf(
  { metadata, spec }: Definition,
  requested: string | undefined,
): Definition['spec']['versions'][number] {
  const served = spec.versions.filter((one) => one.served);
  const found =
    requested === undefined
      ? (served.find(({ storage }) => storage) ?? served[0])
      : served.find(({ name }) => name === requested);
  if (found !== undefined) return found;
  const known = served.map(({ name }) => name).join(', ') || 'none';
  throw new SchemaError(metadata.name, `version ${requested ?? ''} is not served; the served ones are ${known}`);
}

/** The schema of a whole object: the API server adds apiVersion, kind and metadata to that of the CRD. */
function objectOf({ properties = {}, required = [] }: ImportedSchema): ImportedSchema {
  const { apiVersion: _, kind: __, metadata: ___, ...own } = properties;
  const text = { type: 'string' };
  const metadata = {
    type: 'object',
    properties: { name: text, namespace: text, labels: texts, annotations: texts },
  };
  return {
    type: 'object',
    properties: { apiVersion: text, kind: text, metadata, ...own },
    required: required.filter((field) => field in own),
  };
}

const texts: ImportedSchema = { type: 'object', additionalProperties: { type: 'string' } };

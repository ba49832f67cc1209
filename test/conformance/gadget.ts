// The kinds of the conformance suite: Gadget, a CRD with all features that the suite tests, and Plinth, a CRD without
// subresources. Only the suite uses them, so no server has them before the suite installs them.
import { conditionsSchema } from '../support/conditions-schema.ts';

export const gadgetGroup = 'conformance.example.org';
export const gadgetApiVersion = `${gadgetGroup}/v1`;

/** Returns the path of a collection, of an object in it, or of a subresource. */
export function pathOf(collection: string, ...parts: readonly (string | undefined)[]): string {
  return [collection, ...parts.filter((part) => part !== undefined)].join('/');
}

/** Returns the path of the gadgets of a namespace, of one gadget, or of a subresource. */
export function gadgets(namespace: string, name?: string, subresource?: string): string {
  return pathOf(`/apis/${gadgetApiVersion}/namespaces/${namespace}/gadgets`, name, subresource);
}

/** Returns the path of all plinths or of one. Plinths are cluster-scoped. */
export function plinths(name?: string): string {
  return pathOf(`/apis/${gadgetApiVersion}/plinths`, name);
}

/** Returns the body of a gadget. */
export function gadget(name: string, spec: object = { size: 1 }, metadata: object = {}) {
  return { apiVersion: gadgetApiVersion, kind: 'Gadget', metadata: { name, ...metadata }, spec };
}

/** Returns the body of a plinth. */
export function plinth(name: string, content: object = {}, metadata: object = {}) {
  return { apiVersion: gadgetApiVersion, kind: 'Plinth', metadata: { name, ...metadata }, ...content };
}

const specSchema = {
  type: 'object',
  required: ['size'],
  properties: {
    size: { type: 'integer', minimum: 0, maximum: 100 },
    color: { type: 'string', enum: ['red', 'green', 'blue'] },
    finish: { type: 'string', default: 'matt' },
    code: { type: 'string', pattern: '^[a-z]+$', minLength: 2, maxLength: 5 },
    port: { 'x-kubernetes-int-or-string': true },
    ratio: { type: 'number', minimum: 0.000_01, maximum: 2_500_000 },
    loose: { type: 'boolean' },
    since: { type: 'string', format: 'date-time' },
    host: { type: 'string', format: 'hostname' },
    low: { type: 'integer' },
    high: { type: 'integer' },
    nickname: { type: 'string', nullable: true, maxLength: 4 },
    frozen: {
      type: 'string',
      'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'frozen cannot be changed' }],
    },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    tags: { type: 'array', maxItems: 3, items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    notes: { type: 'array', items: { type: 'string' } },
    parts: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, count: { type: 'integer', default: 1 } },
      },
    },
    box: {
      type: 'object',
      default: {},
      properties: { lid: { type: 'string', default: 'closed' }, depth: { type: 'integer' } },
    },
    // Without a default of its own, but with one inside.
    tray: { type: 'object', properties: { lining: { type: 'string', default: 'felt' }, depth: { type: 'integer' } } },
    counts: { type: 'object', additionalProperties: { type: 'integer' } },
    anything: { 'x-kubernetes-preserve-unknown-fields': true },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
  'x-kubernetes-validations': [
    {
      rule: '!has(self.low) || !has(self.high) || self.low <= self.high',
      message: 'low must not exceed high',
      fieldPath: '.low',
    },
    {
      rule: "!has(self.code) || self.code != 'zero' || self.size == 0",
      messageExpression: "'code ' + self.code + ' is for size 0'",
    },
  ],
};

const statusSchema = {
  type: 'object',
  properties: {
    replicas: { type: 'integer' },
    selector: { type: 'string' },
    phase: { type: 'string' },
    observedGeneration: { type: 'integer' },
    conditions: conditionsSchema,
  },
};

/** The CustomResourceDefinitions to install before the cases run. */
export const definitions = [
  {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `gadgets.${gadgetGroup}` },
    spec: {
      group: gadgetGroup,
      scope: 'Namespaced',
      names: {
        plural: 'gadgets',
        singular: 'gadget',
        kind: 'Gadget',
        listKind: 'GadgetList',
        shortNames: ['gd'],
        categories: ['things'],
      },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: {
            status: {},
            scale: {
              specReplicasPath: '.spec.size',
              statusReplicasPath: '.status.replicas',
              labelSelectorPath: '.status.selector',
            },
          },
          additionalPrinterColumns: [
            { name: 'Size', type: 'integer', jsonPath: '.spec.size', description: 'How big it is.' },
            { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
            { name: 'Color', type: 'string', jsonPath: '.spec.color', priority: 1 },
            { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
          selectableFields: [{ jsonPath: '.spec.color' }],
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description: 'The main test kind of the conformance suite.',
              required: ['spec'],
              properties: { spec: { ...specSchema, description: 'The desired state.' }, status: statusSchema },
            },
          },
        },
      ],
    },
  },
  {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `plinths.${gadgetGroup}` },
    spec: {
      group: gadgetGroup,
      scope: 'Cluster',
      names: { plural: 'plinths', singular: 'plinth', kind: 'Plinth', listKind: 'PlinthList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  },
];

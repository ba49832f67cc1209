// A kind that nothing in the repository uses, for kubectl.
import { conditionsSchema } from '../support/conditions-schema.ts';

export const sampleResourceName = 'kettles.kitchen.example.net';

/** The CustomResourceDefinition of the kind: columns, a status, a scale, a short name, descriptions. */
export const sampleDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: sampleResourceName },
  spec: {
    group: 'kitchen.example.net',
    scope: 'Namespaced',
    names: { plural: 'kettles', singular: 'kettle', kind: 'Kettle', listKind: 'KettleList', shortNames: ['kt'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {}, scale: { specReplicasPath: '.spec.cups', statusReplicasPath: '.status.filled' } },
        additionalPrinterColumns: [
          { name: 'Cups', type: 'integer', jsonPath: '.spec.cups' },
          { name: 'Boils', type: 'string', jsonPath: '.status.conditions[?(@.type=="Boils")].status' },
          { name: 'Tea', type: 'string', jsonPath: '.spec.tea', priority: 1 },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'A kettle boils water for some cups.',
            properties: {
              spec: {
                type: 'object',
                description: 'The desired state of the kettle.',
                required: ['cups'],
                properties: {
                  cups: { type: 'integer', description: 'How many cups to boil for.', minimum: 0, maximum: 12 },
                  tea: { type: 'string', enum: ['green', 'black'], default: 'black' },
                },
              },
              status: { type: 'object', properties: { filled: { type: 'integer' }, conditions: conditionsSchema } },
            },
          },
        },
      },
    ],
  },
};

/** Returns an object of the kind to be applied. */
export function sampleObject(name: string, spec: object = { cups: 2 }, metadata: object = {}): object {
  return { apiVersion: 'kitchen.example.net/v1', kind: 'Kettle', metadata: { name, ...metadata }, spec };
}

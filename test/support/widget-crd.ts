// The CRD of the kind in the reconcile cases. Its spec accepts anything, so a reconciler can receive a spec that its
// own schema rejects.
import { conditionsSchema } from './conditions-schema.ts';

const nodes = { type: 'object', additionalProperties: { type: 'string' } };

export const widgetDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.reconcile.example.com' },
  spec: {
    group: 'reconcile.example.com',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
              status: {
                type: 'object',
                properties: {
                  size: { type: 'number' },
                  note: { type: 'string', nullable: true },
                  coat: { type: 'string' },
                  nodes,
                  zones: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: { type: 'object', required: ['name'], properties: { name: { type: 'string' }, nodes } },
                  },
                  plan: { type: 'object', required: ['nodes'], properties: { due: { type: 'string' }, nodes } },
                  observedGeneration: { type: 'integer', format: 'int64' },
                  conditions: conditionsSchema,
                },
              },
            },
          },
        },
      },
    ],
  },
};

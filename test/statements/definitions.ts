// TEMPORARY
import * as z from 'zod';
import { registry } from '../../src/controllers/registry.ts';
export function definitions() {
  return registry.map(({ declares: { resource: r } }) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${r.plural}.${r.group}` },
    spec: {
      group: r.group,
      scope: 'Namespaced',
      names: { plural: r.plural, singular: r.kind.toLowerCase(), kind: r.kind, listKind: `${r.kind}List` },
      versions: [
        {
          name: r.version,
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
                  'x-kubernetes-preserve-unknown-fields': true,
                  properties: {
                    conditions: {
                      type: 'array',
                      'x-kubernetes-list-type': 'map',
                      'x-kubernetes-list-map-keys': ['type'],
                      items: {
                        type: 'object',
                        required: ['type'],
                        properties: { type: { type: 'string' } },
                        'x-kubernetes-preserve-unknown-fields': true,
                      },
                    },
                  },
                },
              },
            },
          },
        },
      ],
    },
  }));
}
void z;

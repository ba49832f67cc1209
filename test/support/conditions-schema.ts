// The schema of `status.conditions` in handwritten definitions of tests: metav1.Condition with fewer required fields
// than ours, and a list-map by type, so that two managers can share it.
export const conditionsSchema = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: {
    type: 'object',
    required: ['type', 'status'],
    properties: {
      type: { type: 'string' },
      status: { type: 'string' },
      reason: { type: 'string', maxLength: 1024 },
      message: { type: 'string', maxLength: 32_768 },
      observedGeneration: { type: 'integer', format: 'int64' },
      lastTransitionTime: { type: 'string', format: 'date-time' },
    },
  },
};

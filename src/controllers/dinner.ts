// Dinner: has one Ingredient for each line of its list. It shows composition: it writes the specs of its children and reads
// their statuses, never the pantry, and no child knows of it. When a child changes, the watcher wakes its owner.
//
// A user writes spec. This controller alone writes status, and owns Ingredients; what it no longer lists is deleted.
import * as z from 'zod';
import { aggregate, readinessOf, settleChildren } from '../core/aggregate.ts';
import { defineController } from '../core/controller.ts';
import { defineResource } from '../core/resource.ts';
import { ingredientKind, portionShape } from './ingredient.ts';

/** Both parts of a child's name, which must not be longer than 253 characters together; 63 is also easy to remember. */
const maxNameLength = 63;
const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** The kind. */
export const dinnerKind = defineResource({
  group: 'kitchen.example.com',
  version: 'v1',
  kind: 'Dinner',
  spec: z.object({
    ingredients: z
      .array(
        z.object({
          name: z.string().min(1).max(maxNameLength).regex(dnsLabel).describe('Names the child: <dinner>-<name>.'),
          ...portionShape,
        }),
      )
      .min(1)
      .max(50)
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
  }),
  status: z.object({
    ingredientsTotal: z.number().int(),
    ingredientsReady: z.number().int(),
  }),
  conditions: ['IngredientsReady'],
  columns: { Ingredients: '.status.ingredientsTotal', Laid: '.status.ingredientsReady' },
  nameRule: {
    rule: `size(self.metadata.name) <= ${maxNameLength}`,
    message: `a name has at most ${maxNameLength} characters, because its ingredients are named after it`,
  },
});

/** The controller. */
export const dinner = defineController(dinnerKind)({
  name: 'dinner',
  owns: [ingredientKind],

  async reconcile({ metadata, spec, status }, { children }) {
    const desired = spec.ingredients.map(({ name, ...portion }) => ({
      metadata: { name: `${metadata.name}-${name}` },
      spec: portion,
    }));
    // The whole set, every time: it is compared with what is there, so that a converged dinner writes nothing.
    const { live, problem } = await settleChildren(ingredientKind, children(ingredientKind, desired));

    const readiness = live?.map(readinessOf);
    const counted = {
      ingredientsTotal: desired.length,
      ingredientsReady: readiness?.filter((one) => one.status === 'True').length ?? status?.ingredientsReady ?? 0,
    };
    if (problem !== undefined) {
      return { status: counted, conditions: { IngredientsReady: problem.condition }, retry: problem.error };
    }
    return { status: counted, conditions: { IngredientsReady: aggregate(readiness ?? []) } };
  },
});

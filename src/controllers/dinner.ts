// Dinner: has one Ingredient for each line of its list. It shows composition: it writes the specs of its children and
// reads their statuses, never the pantry, and no child knows of it. When a child changes, the watcher wakes its owner.
//
// A user writes spec. This controller alone writes status, and owns Ingredients; what it no longer lists is deleted.
import * as z from 'zod';
import { defineKind, NotOwnedError, type ResultOf, readyCondition, summarize } from '../outrigger.ts';
import { Ingredient, portionShape } from './ingredient.ts';

/** Both parts of a child's name, which must not be longer than 253 characters together; 63 is also easy to remember. */
const maxNameLength = 63;
const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** The kind. */
export const Dinner = defineKind({
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
export const dinner = Dinner.controller('dinner', {
  owns: [Ingredient],

  async reconcile({ metadata, spec, status }, { tryApplyAll }): Promise<ResultOf<typeof Dinner>> {
    const desired = spec.ingredients.map(({ name, ...portion }) => ({
      metadata: { name: `${metadata.name}-${name}` },
      spec: portion,
    }));
    // The whole set, every time: it is compared with what is there, so that a converged dinner writes nothing.
    const { objects, failure } = await tryApplyAll(Ingredient, desired);

    const readiness = objects.map(readyCondition);
    // When the API server refuses a child, the others are not read either: the last count stays.
    const isKnown = failure === undefined || failure.error instanceof NotOwnedError;
    const ready = readiness.filter((one) => one.status === 'True').length;
    return {
      status: {
        ingredientsTotal: desired.length,
        ingredientsReady: isKnown ? ready : (status?.ingredientsReady ?? 0),
      },
      conditions: { IngredientsReady: failure?.condition ?? summarize(readiness) },
      error: failure?.error,
    };
  },
});

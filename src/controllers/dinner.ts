// Dinner: has one Ingredient for each line of its list. It shows composition: it writes the specs of its children and
// reads their statuses. It does not call the pantry, and its children do not depend on it. A change of a child triggers
// a reconcile of its owner.
//
// A user writes spec. Only this controller writes status. It owns Ingredients: those that are no longer listed are
// deleted.
import * as z from 'zod';
import { defineKind, NotOwnedError, type ResultOf, readyCondition, summarize } from '../outrigger.ts';
import { Ingredient, portionShape } from './ingredient.ts';

/** The limit of both parts of a child's name, which together may have 253 characters. */
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
    // Always the whole set. It is compared with the existing children, so a converged dinner writes nothing.
    const { objects, failure } = await tryApplyAll(Ingredient, desired);

    const readiness = objects.map(readyCondition);
    // If the API server rejects a child, the others are not returned, so the last count is kept.
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

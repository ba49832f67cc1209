// Two controllers: one with wakes, and one without.
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { wake } from '../../src/api/wake.ts';

const kindOf = <const Name extends string>(kind: Name) =>
  defineKind({
    group: 'plant.example.com',
    version: 'v1',
    kind,
    spec: z.object({}),
    status: z.object({}),
    conditions: [],
  });
const reconcile = async () => ({ status: {}, conditions: {} });
const none = () => [];

export const wakingRegistry: readonly ControllerDefinition[] = [
  kindOf('Gauge').controller('gauge', {
    wakes: [
      wake({ source: 'plant', detailType: 'LevelChanged', detail: { sensor: { kind: ['level'] } } }, none),
      wake({ source: 'plant', detailType: 'Leak' }, none),
    ],
    reconcile,
  }),
  kindOf('Quiet').controller('quiet', { reconcile }),
];

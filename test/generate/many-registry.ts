// As many controllers as fit into a stack, for a test that packages a template. Each has a kind of its own, as a real
// registry.
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';

const treeKind = (index: number) =>
  defineKind({
    group: 'orchard.example.com',
    version: 'v1',
    kind: `Tree${index}`,
    conditions: ['Ripe'] as const,
    spec: z.object({}),
    status: z.object({}),
  });
const reconcile = async () => ({ status: {}, conditions: { Ripe: { status: 'True', reason: 'Ripe' } } }) as const;
/** The controllers. */
export const many = Array.from({ length: 40 }, (_, index) =>
  treeKind(index).controller(`controller-${index}`, { reconcile }),
);

// The cross-cutting statements that depend on the server (X5, X7, X15, X16), as the generated roles' users on a
// real kube-apiserver that enforces owner references and has no garbage collector. What the roles permit is least-privilege.test.ts.
import { describe } from 'vitest';
import { deletionCases } from '../cross/deletion-cases.ts';
import { damageCases, takenCases } from '../cross/ownership-cases.ts';
import { idleCases } from '../cross/steady-cases.ts';
import { raceCases } from '../cross/writes-cases.ts';
import { useClusterHarness } from './cross-harness.ts';

const harness = await useClusterHarness();
/** A child that has a controller, and one of each built-in workload. For all controllers: test/cross on the server in memory. */
const ofEachChild = {
  ...harness,
  registry: harness.registry.filter(({ name }) => ['dinner', 'foo', 'bitcoin-network'].includes(name)),
};

describe('objects that do not change', () => idleCases(harness));
describe('writes of controllers', () => raceCases(ofEachChild));
describe('deletions', () => deletionCases(harness));
describe('children', () => {
  takenCases(ofEachChild);
  damageCases(ofEachChild);
});

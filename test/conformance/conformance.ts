// All cases of the conformance suite, for one server. A real kube-apiserver passes them
// (test/cluster/conformance.test.ts), and the in-memory server must pass the same list (embedded.test.ts). Excluded:
// history.ts, which needs a server with a short history.
import { describe } from 'vitest';
import { applyCases } from './apply.ts';
import { applyFieldCases } from './apply-fields.ts';
import { applyStatusCases } from './apply-status.ts';
import { coreKindCases } from './core-kinds.ts';
import { crudCases } from './crud.ts';
import { definitionCases } from './definitions.ts';
import { deletionCases } from './deletions.ts';
import { discoveryCases } from './discovery.ts';
import { execCases } from './exec.ts';
import { garbageCases } from './garbage.ts';
import { listCases } from './lists.ts';
import { patchCases } from './patches.ts';
import { requestCases } from './requests.ts';
import { schemaCases } from './schemas.ts';
import { statusCases } from './statuses.ts';
import { createSuite } from './suite.ts';
import { tableCases } from './tables.ts';
import { validationCases } from './validations.ts';
import { watchCases } from './watches.ts';
import type { ConformanceServer } from './wire.ts';
import { workloadCases } from './workloads.ts';

/** Declares every case as a vitest test of `server`. The server must be running and collect garbage. */
export function conformance(server: ConformanceServer): void {
  const suite = createSuite(server);
  describe('create, read, replace', () => crudCases(suite));
  describe('requests', () => requestCases(suite));
  describe('lists', () => listCases(suite));
  describe('tables', () => tableCases(suite));
  describe('watches', () => watchCases(suite));
  describe('status and scale', () => statusCases(suite));
  describe('patches', () => patchCases(suite));
  describe('apply', () => applyCases(suite));
  describe('apply, single fields', () => applyFieldCases(suite));
  describe('apply on /status', () => applyStatusCases(suite));
  describe('deletion', () => deletionCases(suite));
  describe('garbage collection', () => garbageCases(suite));
  describe('schemas', () => schemaCases(suite));
  describe('validation', () => validationCases(suite));
  describe('definitions', () => definitionCases(suite));
  describe('core kinds', () => coreKindCases(suite));
  describe('workloads', () => workloadCases(suite));
  describe('commands in pods', () => execCases(suite, server));
  describe('discovery', () => discoveryCases(suite));
}

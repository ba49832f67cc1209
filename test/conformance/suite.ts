// Runs every case of the conformance suite against one server. The real kube-apiserver is the judge of the cases; the in-memory
// server must pass the same list. A case starts in a namespace of its own and knows nothing of the others.
import { beforeAll, describe } from 'vitest';
import { applyCases } from './apply.ts';
import { applyFieldCases } from './apply-fields.ts';
import { applyStatusCases } from './apply-status.ts';
import { crudCases } from './crud.ts';
import { definitions, GROUP } from './gadget.ts';
import { listCases } from './lists.ts';
import { patchCases } from './patches.ts';
import { requestCases } from './requests.ts';
import { statusCases } from './statuses.ts';
import { tableCases } from './tables.ts';
import { watchCases } from './watches.ts';
import { type ConformanceServer, createWire, type Wire } from './wire.ts';

/** What every case gets. */
export interface Suite {
  readonly wire: Wire;
  /** Creates a namespace and returns its name. */
  namespace(): Promise<string>;
}

/** Declares every case as a vitest test against `server`, which must be running. */
export function conformance(server: ConformanceServer): void {
  const wire = createWire(server);
  const suite: Suite = {
    wire,
    async namespace() {
      const made = await wire.post('/api/v1/namespaces', { metadata: { generateName: 'conformance-' } });
      if (made.body.metadata?.name === undefined) throw new Error(`no namespace: ${made.text}`);
      return made.body.metadata.name;
    },
  };
  beforeAll(() => install(wire));
  describe('create, read, update', () => crudCases(suite));
  describe('requests', () => requestCases(suite));
  describe('lists', () => listCases(suite));
  describe('tables', () => tableCases(suite));
  describe('watches', () => watchCases(suite));
  describe('status and scale', () => statusCases(suite));
  describe('patches', () => patchCases(suite));
  describe('apply on /status', () => applyStatusCases(suite));
  describe('apply, field by field', () => applyFieldCases(suite));
  describe('apply', () => applyCases(suite));
}

/** Installs the suite's kinds and waits, on a watch, until the server serves them. */
async function install(wire: Wire): Promise<void> {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  for (const definition of definitions) {
    const made = await wire.apply(`${path}/${definition.metadata.name}`, 'conformance', definition, { force: true });
    if (made.status > 201) throw new Error(`no ${definition.metadata.name}: ${made.text}`);
    await using watch = await wire.watch(path, { fieldSelector: `metadata.name=${definition.metadata.name}` });
    await watch.until(({ object }) => JSON.stringify(object.status ?? {}).includes('"type":"Established"'));
  }
  const served = await wire.get(`/apis/${GROUP}/v1`);
  if (served.status !== 200) throw new Error(`${GROUP} is not served: ${served.text}`);
}

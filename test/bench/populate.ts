// Many objects in little time, for figures that need them there. Objects of ours are created with their status: their kind is served
// without the status subresource meanwhile, as an import of a backup would do it, so that each costs one request and not three.
import path from 'node:path';
import { applyObject } from '../../src/kube/apply.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { isRecord } from '../../src/kube/record.ts';
import { readManifests } from '../../src/local/manifests.ts';
import type { PlainApi } from '../chaos/plain-api.ts';
import { established } from '../support/established.ts';

/** Requests at once: enough to keep an API server busy on two cores. */
const lanes = 24;
const saySeconds = 10;
const definitions = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  namespaced: false,
};
const generated = path.resolve(import.meta.dirname, '../../infra/kubernetes/generated');

/** Applies the definition of a kind; with `status: 'part of the object'` whoever creates an object may write its status. */
export async function define(
  client: KubeClient,
  name: string,
  { status }: { readonly status: 'subresource' | 'part of the object' },
): Promise<void> {
  const [manifest] = await readManifests(path.join(generated, `crd-${name}.yaml`));
  if (manifest === undefined) throw new Error(`there is no definition of ${name}`);
  const { apiVersion, kind, object } = manifest;
  const wanted = { ...object, ...(status === 'subresource' ? {} : { spec: withoutStatus(object) }) };
  await applyObject(client, definitions, { ...wanted, apiVersion, kind }, { fieldManager: 'bench', force: true });
  await established(client, name);
}

function withoutStatus({ spec }: KubeObject): object {
  if (!isRecord(spec) || !Array.isArray(spec.versions)) throw new Error('a definition has versions');
  const versions = spec.versions.filter(isRecord).map(({ subresources: _, ...version }) => version);
  return { ...spec, versions };
}

/** Does something for every number below `count`, many at a time, and tells how far it is. */
export async function many(what: string, count: number, act: (number: number) => Promise<void>): Promise<void> {
  const started = performance.now();
  let next = 0;
  let done = 0;
  const say = (): void => {
    const seconds = (performance.now() - started) / 1000;
    const left = done === 0 ? '?' : ((seconds / done) * (count - done)).toFixed(0);
    process.stderr.write(`  ${what}: ${done} of ${count}, ${left} s left\n`);
  };
  const ticker = setInterval(say, saySeconds * 1000);
  const lane = async (): Promise<void> => {
    for (let number = next++; number < count; number = next++) {
      await act(number);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, count) }, lane)).finally(() => clearInterval(ticker));
}

/** Creates one object and returns its uid. Throws what the API server refuses. */
export async function create(api: PlainApi, collection: string, body: object): Promise<string> {
  const { status, body: said } = await api.call('POST', collection, body);
  const uid = isRecord(said) && isRecord(said.metadata) ? said.metadata.uid : undefined;
  if (status >= 300 || typeof uid !== 'string')
    throw new Error(`POST ${collection}: ${status} ${JSON.stringify(said)}`);
  return uid;
}

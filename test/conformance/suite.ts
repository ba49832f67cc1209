// The fixture of the conformance suite: a server with the suite's kinds installed, and a new namespace for every case,
// so that the cases are independent of each other.
import { beforeAll } from 'vitest';
import { hasCondition } from './body.ts';
import { definitions, gadgetGroup } from './gadget.ts';
import { type ConformanceServer, createWire, type Wire } from './wire.ts';

/** The fixture that every case receives. */
export type Suite = {
  readonly wire: Wire;
  /** Creates a namespace and returns its name. */
  namespace(): Promise<string>;
};

/** Returns the suite for a running server. Its kinds are installed before the first case. */
export function createSuite(server: ConformanceServer): Suite {
  const wire = createWire(server);
  beforeAll(() => install(wire));
  return {
    wire,
    async namespace() {
      const made = await wire.post('/api/v1/namespaces', { metadata: { generateName: 'conformance-' } });
      if (made.body.metadata?.name === undefined) throw new Error(`the namespace was not created: ${made.text}`);
      return made.body.metadata.name;
    },
  };
}

/** Installs the suite's kinds and waits until the server serves them. */
async function install(wire: Wire): Promise<void> {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  for (const definition of definitions) {
    const { name } = definition.metadata;
    const made = await wire.apply(`${path}/${name}`, 'conformance', definition, { force: true });
    if (made.status > 201) throw new Error(`${name} was not applied: ${made.text}`);
    await using watch = await wire.watch(path, { fieldSelector: `metadata.name=${name}` });
    await watch.until(({ object }) => hasCondition(object, 'Established'));
  }
  const served = await wire.get(`/apis/${gadgetGroup}/v1`);
  if (served.status !== 200) throw new Error(`${gadgetGroup} is not served: ${served.text}`);
}

// What every case of the conformance suite starts from: a server with the suite's kinds installed, and a namespace of its own,
// so that no case knows of the others.
import { beforeAll } from 'vitest';
import { hasCondition } from './body.ts';
import { definitions, GROUP } from './gadget.ts';
import { type ConformanceServer, createWire, type Wire } from './wire.ts';

/** What every case gets. */
export interface Suite {
  readonly wire: Wire;
  /** Creates a namespace and returns its name. */
  namespace(): Promise<string>;
}

/** Returns the suite for a running server, and has vitest install the suite's kinds before the first case. */
export function createSuite(server: ConformanceServer): Suite {
  const wire = createWire(server);
  beforeAll(() => install(wire));
  return {
    wire,
    async namespace() {
      const made = await wire.post('/api/v1/namespaces', { metadata: { generateName: 'conformance-' } });
      if (made.body.metadata?.name === undefined) throw new Error(`no namespace: ${made.text}`);
      return made.body.metadata.name;
    },
  };
}

/** Installs the suite's kinds and waits, on a watch, until the server serves them. */
async function install(wire: Wire): Promise<void> {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  for (const definition of definitions) {
    const { name } = definition.metadata;
    const made = await wire.apply(`${path}/${name}`, 'conformance', definition, { force: true });
    if (made.status > 201) throw new Error(`no ${name}: ${made.text}`);
    await using watch = await wire.watch(path, { fieldSelector: `metadata.name=${name}` });
    await watch.until(({ object }) => hasCondition(object, 'Established'));
  }
  const served = await wire.get(`/apis/${GROUP}/v1`);
  if (served.status !== 200) throw new Error(`${GROUP} is not served: ${served.text}`);
}

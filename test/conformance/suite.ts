// The fixture of the conformance suite, whose cases a real kube-apiserver passes and the in-memory server must pass too: a
// server with the suite's kinds installed, and a new namespace for every case, so that the cases are independent.
import { beforeAll, vi } from 'vitest';
import { type TestApiServer, useApiServer } from '../harness/api-server.ts';
import { type Body, hasCondition } from './body.ts';
import { definitions, gadget, gadgetGroup, gadgets } from './gadget.ts';
import { createWire, type Query, type Wire } from './wire.ts';

/** The fixture of a file's cases. */
export type Suite = {
  readonly server: TestApiServer;
  readonly wire: Wire;
  /** Creates a namespace and returns its name. */
  namespace(): Promise<string>;
  /** Creates the gadget `one` in a new namespace. Returns the namespace, the paths, and the gadget as it was created. */
  createGadget(spec?: object, metadata?: object): Promise<OneGadget>;
  /** The path of the gadget `one` in a new namespace, which does not exist yet, and applies to it. */
  gadgetToApply(): Promise<GadgetToApply>;
};

/** A path, and server-side applies to it as a manager. */
export type GadgetToApply = {
  readonly one: string;
  apply(manager: string, spec: object, metadata?: object, query?: Query): ReturnType<Wire['apply']>;
};

/** A gadget in a namespace of its own. */
export type OneGadget = {
  readonly ns: string;
  readonly main: string;
  readonly status: string;
  readonly scale: string;
  readonly made: Body;
};

/** Opens the server of a file. The suite's kinds are installed before its first case. */
export async function useSuite(options?: Parameters<typeof useApiServer>[0]): Promise<Suite> {
  const server = await useApiServer(options);
  const wire = createWire(server);
  beforeAll(() => install(wire));
  const namespace = async () => {
    const made = await wire.post('/api/v1/namespaces', { metadata: { generateName: 'conformance-' } });
    if (made.body.metadata?.name === undefined) throw new Error(`the namespace was not created: ${made.text}`);
    return made.body.metadata.name;
  };
  return {
    server,
    wire,
    namespace,
    async createGadget(spec, metadata) {
      const ns = await namespace();
      const made = await wire.post(gadgets(ns), gadget('one', spec, metadata));
      if (made.status !== 201) throw new Error(`the gadget was not created: ${made.text}`);
      const main = gadgets(ns, 'one');
      return { ns, main, status: `${main}/status`, scale: `${main}/scale`, made: made.body };
    },
    async gadgetToApply() {
      const one = gadgets(await namespace(), 'one');
      return {
        one,
        apply: (manager, spec, metadata, query) => wire.apply(one, manager, gadget('one', spec, metadata), query),
      };
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
  // An established kind is served a moment later.
  for (const { spec } of definitions) {
    const list = async () => {
      const { status, text } = await wire.get(`/apis/${gadgetGroup}/v1/${spec.names.plural}`);
      if (status !== 200) throw new Error(`${spec.names.plural} are not served: ${text}`);
    };
    await vi.waitFor(list, { timeout: 10_000 });
  }
}

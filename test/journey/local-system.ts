// The whole local system with the samples, for the cases of a suite, and what a person does in it.
import path from 'node:path';
import { build } from '@outrigger/cli/commands/build';
import { objectReadiness } from '@outrigger/cli/dev/readiness';
import { type Dev, type DevOptions, startDev } from '@outrigger/cli/dev/system';
import { afterAll, beforeAll } from 'vitest';
import type { Kind } from '../../src/api/kind.ts';
import { registry } from '../../src/controllers/registry.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { useFolder } from '../support/folder.ts';

const root = path.resolve(import.meta.dirname, '../..');
const startSeconds = 170;

/** The time limit of a case. */
export const caseSeconds = 90;

/** Starts the system before the cases of a suite, and ends it after them. `namespace` is asked at each use. */
export function useLocalSystem(options: () => DevOptions, namespace: () => string = () => 'default') {
  const folder = useFolder({ shared: true });
  let dev: Dev;
  const lines: string[] = [];
  beforeAll(async () => {
    const chosen = {
      folder: folder.path,
      onLine: (line: object) => void lines.push(JSON.stringify(line)),
      ...options(),
    };
    dev = await startDev({ controllers: registry, build, root }, chosen, AbortSignal.timeout(startSeconds * 1000));
  }, startSeconds * 1000);
  afterAll(async () => await dev?.close(), startSeconds * 1000);

  const keyOf = (name: string) => ({ name, namespace: namespace() });
  const until = async <T>(
    kind: Kind,
    name: string,
    find: (object: KubeObject | undefined) => T | undefined,
  ): Promise<T> =>
    await dev.view.until((view) => find(view.get(kind, keyOf(name))), AbortSignal.timeout((caseSeconds - 5) * 1000));
  return {
    dev: () => dev,
    /** What the system has printed so far, as JSON. */
    lines,
    apply: async ({ apiVersion, kind, ...resource }: Kind, name: string, spec: object): Promise<KubeObject> =>
      await applyObject(
        dev.client,
        resource,
        { apiVersion, kind, metadata: keyOf(name), spec },
        { fieldManager: 'journey' },
      ),
    remove: async (kind: Kind, name: string): Promise<void> => {
      await dev.client.request({ method: 'DELETE', path: objectPath(kind, keyOf(name)) });
    },
    /** Resolves with the object when it is Ready in this generation. */
    ready: async (kind: Kind, name: string, generation = 1): Promise<KubeObject> =>
      await until(kind, name, (object) =>
        object?.metadata.generation === generation && objectReadiness(object).ready ? object : undefined,
      ),
    gone: async (kind: Kind, name: string): Promise<true> =>
      await until(kind, name, (object) => (object === undefined ? true : undefined)),
  };
}

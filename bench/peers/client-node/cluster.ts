// The official client as the peer uses it: an informer of a kind in all namespaces, restarted when it stops, and writes
// of statuses.
import {
  AppsV1Api,
  CustomObjectsApi,
  type Informer,
  KubeConfig,
  type KubernetesObject,
  type ListPromise,
  makeInformer,
  type ObjectCache,
  PatchStrategy,
  setHeaderOptions,
} from '@kubernetes/client-node';

/** The resource of a custom kind. */
export type Resource = { readonly group: string; readonly version: string; readonly plural: string };

/** A custom object, with the fields that the jobs read. */
export type Custom<Spec, Status> = KubernetesObject & { readonly spec: Spec; readonly status?: Status };

/** The objects of a kind in the informer's cache. */
export type Known<T extends KubernetesObject> = ObjectCache<T>;

/** The peer's access to a cluster. */
export type Cluster = {
  readonly apps: AppsV1Api;
  /** Watches a custom kind; resolves when every object is in the cache and the watch is open. */
  follow<T extends KubernetesObject>(resource: Resource, onChange: (object: T) => void): Promise<Known<T>>;
  /** Watches a kind for which the client has a list function. */
  followPath<T extends KubernetesObject>(
    path: string,
    list: ListPromise<T>,
    onChange: (object: T) => void,
  ): Promise<Known<T>>;
  writeStatus(resource: Resource, object: KubernetesObject, status: object): Promise<void>;
  stop(): Promise<void>;
};

/** As in the informer's example: https://github.com/kubernetes-client/javascript/blob/main/examples/typescript/informer/informer.ts */
const restartMilliseconds = 5000;

/** Reads KUBECONFIG. */
export function connect(): Cluster {
  const config = new KubeConfig();
  config.loadFromDefault();
  const custom = config.makeApiClient(CustomObjectsApi);
  const apps = config.makeApiClient(AppsV1Api);
  const stops: (() => Promise<void>)[] = [];

  const followPath: Cluster['followPath'] = async (path, list, onChange) => {
    const informer = makeInformer(config, path, list);
    informer.on('add', onChange);
    informer.on('update', onChange);
    informer.on('delete', onChange);
    stops.push(() => informer.stop());
    await untilStarted(informer);
    return informer;
  };

  return {
    apps,
    followPath,
    follow: ({ group, version, plural }, onChange) =>
      followPath(
        `/apis/${group}/${version}/${plural}`,
        () => custom.listClusterCustomObject({ group, version, plural }),
        onChange,
      ),
    writeStatus: async ({ group, version, plural }, { metadata }, status) => {
      const { namespace = '', name = '' } = metadata ?? {};
      await custom.patchNamespacedCustomObjectStatus(
        { group, version, plural, namespace, name, body: { status } },
        setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
      );
    },
    stop: async () => {
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}

/**
 * Starts an informer, restarts it whenever it stops, and resolves when it has first listed its objects and opened its
 * watch.
 */
async function untilStarted(informer: Informer<KubernetesObject>): Promise<void> {
  await new Promise<void>((resolve) => {
    let failures = 0;
    const start = async (): Promise<void> => {
      const before = failures;
      await informer.start(); // it also resolves after a failure, which it has reported
      if (failures === before) resolve();
    };
    informer.on('error', (error: unknown) => {
      failures += 1;
      process.stderr.write(`informer: ${String(error)}\n`);
      setTimeout(() => void start(), restartMilliseconds);
    });
    void start();
  });
}

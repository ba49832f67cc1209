// A real cluster with the watcher in it, put there as its users do: kubectl and an overlay. What a cluster has besides, and this one
// does not, is EKS's webhook, whose change of the Deployment is part of the overlay here, and AWS: a queue server, and an STS.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import watchList from '../../infra/kubernetes/generated/watch-list.json' with { type: 'json' };
import { build } from '../../src/cli/build.ts';
import { existingKind } from '../../src/core/kind.ts';
import { parseWatchList } from '../../src/core/watch-list.ts';
import { controllerQueue, systemNamespace, timersQueue } from '../../src/core/names.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { makeArtifacts } from '../../src/local/artifacts.ts';
import type { ControlPlane } from '../../tools/control-plane/control-plane.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import type { ProbeOutcome } from '../../tools/kubelet/http-probes.ts';
import { type Kubelet, startKubelet } from '../../tools/kubelet/kubelet.ts';
import { type NodePrograms, nodePrograms, type Started } from '../../tools/kubelet/node-programs.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { startWebIdentity, type WebIdentity } from '../support/web-identity.ts';
import { createKubectl, type Kubectl } from './kubectl.ts';

const root = path.resolve(import.meta.dirname, '../..');
const tanks = existingKind<object>({ group: 'plant.example.com', version: 'v1', kind: 'WaterTank' });

/** One outcome of a pod's probe. */
export type Probed = ProbeOutcome & { readonly pod: string };

/** The cluster; nothing of the watcher is in it yet. */
export interface InstallableCluster {
  readonly plane: ControlPlane;
  /** An admin's. */
  readonly client: KubeClient;
  readonly kubectl: Kubectl;
  readonly sts: WebIdentity;
  readonly programs: NodePrograms;
  /** What the kubelet complained of. */
  readonly troubles: readonly string[];
  /** Applies an overlay with these settings beside those that every watcher here needs. */
  apply(settings?: Readonly<Record<string, string>>): Promise<void>;
  /** Starts the kubelet, and resolves when both watchers are ready. */
  run(): Promise<void>;
  /** Resolves when a rollout is complete. */
  rolledOut(): Promise<void>;
  /** What every probe has shown so far, oldest first. */
  readonly outcomes: readonly Probed[];
  /** Those that run now. */
  running(): readonly Started[];
  /** Resolves with the first outcome from now on that is asked for. */
  probed(wanted: (outcome: Probed) => boolean): Promise<Probed>;
  applyTank(name: string, targetLevel?: number): Promise<void>;
  close(): Promise<void>;
}

/** A cluster with queues of its own. */
export interface WatcherCluster extends InstallableCluster {
  readonly queues: TestQueues;
}

/** What a cluster is told of its surroundings. */
export interface ClusterSurroundings {
  /** Its name in the clusters table. */
  readonly name: string;
  readonly queues: Pick<TestQueues, 'endpoint' | 'urlPrefix'>;
  readonly apiServerFlags?: readonly string[];
  /** Whether the pods of every namespace run, and not the watcher's alone. */
  readonly runsAll?: boolean;
}

/** What EKS's webhook makes of a pod whose service account has a role. */
const roleArn = 'arn:aws:iam::123456789012:role/outrigger-prod-watcher';
const identityFolder = '/var/run/secrets/eks.amazonaws.com/serviceaccount';
const byWebhook = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'outrigger-watcher', namespace: systemNamespace },
  spec: {
    template: {
      spec: {
        containers: [
          {
            name: 'watcher',
            env: [
              { name: 'AWS_ROLE_ARN', value: roleArn },
              { name: 'AWS_WEB_IDENTITY_TOKEN_FILE', value: `${identityFolder}/token` },
            ],
            volumeMounts: [{ name: 'aws-iam-token', mountPath: identityFolder, readOnly: true }],
          },
        ],
        volumes: [
          {
            name: 'aws-iam-token',
            projected: {
              sources: [
                { serviceAccountToken: { audience: 'sts.amazonaws.com', expirationSeconds: 86_400, path: 'token' } },
              ],
            },
          },
        ],
      },
    },
  },
};

/** Starts everything but the watchers, with a queue server for this cluster alone. */
export async function openWatcherCluster(): Promise<WatcherCluster> {
  await using parts = new AsyncDisposableStack();
  const queues = await startTestQueues();
  parts.defer(() => queues.stop());
  const controllers = parseWatchList(watchList).resources.flatMap(({ subscribers }) => subscribers);
  const names = new Set(controllers.map(({ controller }) => controllerQueue(controller)));
  await queues.create(timersQueue, ...names);
  const cluster = await openClusterBeside({ name: 'test', queues });
  parts.defer(() => cluster.close());
  const whole = parts.move();
  return { ...cluster, queues, close: () => whole.disposeAsync() };
}

/** Starts everything but the watchers and the queues. */
export async function openClusterBeside({
  name,
  queues,
  apiServerFlags = [],
  runsAll = false,
}: ClusterSurroundings): Promise<InstallableCluster> {
  await using parts = new AsyncDisposableStack();
  await makeArtifacts(build, root, AbortSignal.timeout(300_000));
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-overlay-'));
  parts.defer(() => rm(folder, { recursive: true }));
  const plane = await startControlPlane({
    controllerManager: true,
    auditLog: true,
    apiServerFlags,
    enableAdmission: ['ServiceAccount', 'OwnerReferencesPermissionEnforcement'],
  });
  parts.defer(() => plane.stop());
  const client = createClient(plane.connection(), { userAgent: 'kubelet' });
  parts.defer(() => client.close());
  const kubectl = await createKubectl(plane.kubectlPath, plane.kubeconfig(), systemNamespace);
  parts.defer(() => kubectl.close());
  const sts = await startWebIdentity(client);
  parts.defer(() => sts.stop());
  const programs = await nodePrograms(client, {
    dockerfile: path.join(root, 'infra/kubernetes/Dockerfile'),
    context: root,
    image: 'registry.example.com/outrigger-watcher',
    server: new URL(plane.url),
  });
  parts.defer(() => programs.close());
  const troubles: string[] = [];
  const outcomes: Probed[] = [];
  const listeners = new Set<(outcome: Probed) => void>();
  let kubelet: Kubelet | undefined;
  parts.defer(async () => await kubelet?.close());
  const rolledOut = async (): Promise<void> => {
    await kubectl.say(['rollout', 'status', 'deployment/outrigger-watcher', '--timeout=170s']);
  };
  const whole = parts.move();
  return {
    ...{ plane, client, kubectl, sts, programs, troubles, outcomes, rolledOut },
    async apply(settings = {}) {
      const literals = {
        CLUSTER: name,
        QUEUE_URL_PREFIX: queues.urlPrefix,
        AWS_ENDPOINT_URL: queues.endpoint,
        AWS_ENDPOINT_URL_STS: sts.endpoint,
        ...settings,
      };
      const kustomization = {
        apiVersion: 'kustomize.config.k8s.io/v1beta1',
        kind: 'Kustomization',
        resources: [path.relative(folder, path.join(root, 'infra/kubernetes/overlays/eks'))],
        configMapGenerator: [
          {
            ...{ name: 'outrigger-watcher', namespace: systemNamespace, behavior: 'merge' },
            literals: Object.entries(literals).map(([name, value]) => `${name}=${value}`),
          },
        ],
        patches: [{ patch: JSON.stringify(byWebhook) }],
      };
      await writeFile(path.join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
      await kubectl.say(['apply', '--server-side', '-k', folder]);
    },
    async run() {
      kubelet = await startKubelet(client, {
        takes: (namespace) => runsAll || namespace === systemNamespace,
        programs,
        onTrouble: (line) => troubles.push(line),
        onProbe: (pod, outcome) => {
          outcomes.push({ pod, ...outcome });
          for (const listener of listeners) listener({ pod, ...outcome });
        },
      });
      await rolledOut();
    },
    running: () => programs.started.filter(({ ended }) => ended() === undefined),
    probed: (wanted) =>
      new Promise((resolve) => {
        const listener = (outcome: Probed): void => {
          if (!wanted(outcome)) return;
          listeners.delete(listener);
          resolve(outcome);
        };
        listeners.add(listener);
      }),
    async applyTank(name, targetLevel = 1) {
      const object = {
        ...{ apiVersion: tanks.apiVersion, kind: tanks.kind, metadata: { name, namespace: 'default' } },
        spec: { targetLevel, capacity: 100 },
      };
      await applyObject(client, tanks, object, { fieldManager: 'user' });
    },
    close: () => whole.disposeAsync(),
  };
}

// A real cluster with the watcher, installed as users do: kubectl and an overlay. Not included are EKS's webhook, whose
// change of the Deployment is part of the overlay here, and AWS: there is a queue server and an STS.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from '@outrigger/cli/commands/build';
import { foreignKind } from '../../src/api/foreign-kind.ts';
import { controllerQueue, systemNamespace, timersQueue } from '../../src/core/names.ts';
import { sleep, type Wait } from '../../src/core/time.ts';
import { parseWatchList } from '../../src/core/watch-list.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { parseMessage } from '../../src/sqs/message.ts';
import { buildArtifacts } from '../../tools/artifacts.ts';
import type { ControlPlane } from '../../tools/control-plane/control-plane.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import type { ProbeOutcome } from '../../tools/kubelet/http-probes.ts';
import { type Kubelet, startKubelet } from '../../tools/kubelet/kubelet.ts';
import { type NodePrograms, nodePrograms, type StartedContainer } from '../../tools/kubelet/node-programs.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { sampleBase, sampleWatchList, writeFiles } from '../support/sample-manifests.ts';
import { startWebIdentityServer, type WebIdentityServer } from '../support/web-identity.ts';
import { createKubectl, type Kubectl } from './kubectl.ts';

const root = path.resolve(import.meta.dirname, '../..');
const tanks = foreignKind({ group: 'plant.example.com', version: 'v1', kind: 'WaterTank' });

/** One outcome of a pod's probe. */
export type RecordedProbe = ProbeOutcome & { readonly pod: string };

/** The cluster, without the watcher so far. */
export interface InstallableCluster {
  readonly plane: ControlPlane;
  /** With admin permissions. */
  readonly client: KubeClient;
  readonly kubectl: Kubectl;
  readonly sts: WebIdentityServer;
  readonly programs: NodePrograms;
  /** The errors of the kubelet. */
  readonly errors: readonly string[];
  /** Applies an overlay with these settings in addition to those that every watcher here needs. */
  apply(settings?: Readonly<Record<string, string>>): Promise<void>;
  /** Starts the kubelet, and resolves when both watchers are ready. */
  run(): Promise<void>;
  /** Resolves when a rollout is complete. */
  rolledOut(): Promise<void>;
  /** The outcomes of all probes so far, oldest first. */
  readonly outcomes: readonly RecordedProbe[];
  /** Sets how many times faster than real time the kubelet waits between its probes. */
  setProbeSpeed(speed: number): void;
  /** The running ones. */
  running(): readonly StartedContainer[];
  /** Resolves with the first outcome from now on that matches. */
  probed(wanted: (outcome: RecordedProbe) => boolean): Promise<RecordedProbe>;
  applyTank(name: string, targetLevel?: number): Promise<void>;
  close(): Promise<void>;
}

/** A cluster with queues of its own. */
export interface WatcherCluster extends InstallableCluster {
  readonly queues: TestQueues;
  /** Receives keys of tanks until these have come, for a minute at most. Resolves with those of them that have. */
  tanksSeen(names: readonly string[]): Promise<readonly string[]>;
}

/** Options of a cluster. */
export type ClusterOptions = {
  /** Its name in the clusters table. */
  readonly name: string;
  readonly queues: Pick<TestQueues, 'endpoint' | 'urlPrefix'>;
  readonly apiServerFlags?: readonly string[];
  /** Whether the pods of every namespace run, not only the watcher's. */
  readonly runsAll?: boolean;
};

/** The changes of EKS's webhook to a pod whose service account has a role. */
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

/** Starts everything except the watchers, with a queue server for this cluster only. */
export async function openWatcherCluster(): Promise<WatcherCluster> {
  await using cleanup = new AsyncDisposableStack();
  const queues = await startTestQueues();
  cleanup.defer(() => queues.stop());
  const controllers = parseWatchList(sampleWatchList).resources.flatMap(({ subscribers }) => subscribers);
  const names = new Set(controllers.map(({ controller }) => controllerQueue(controller)));
  await queues.create(timersQueue, ...names);
  const cluster = await openClusterWithQueues({ name: 'test', queues });
  cleanup.defer(() => cluster.close());
  const resources = cleanup.move();
  const tanksSeen = async (names: readonly string[]): Promise<readonly string[]> => {
    const seen: string[] = [];
    for (let tries = 0; tries < 30 && !names.every((name) => seen.includes(name)); tries += 1) {
      const messages = await queues.drain('water-tank.fifo', { waitSeconds: 2 });
      seen.push(...messages.map(({ Body = '' }) => parseMessage(Body).name));
    }
    return seen.filter((name) => names.includes(name)).sort();
  };
  return { ...cluster, queues, tanksSeen, close: () => resources.disposeAsync() };
}

/** Starts everything except the watchers and the queues. */
export async function openClusterWithQueues({
  name,
  queues,
  apiServerFlags = [],
  runsAll = false,
}: ClusterOptions): Promise<InstallableCluster> {
  await using cleanup = new AsyncDisposableStack();
  await buildArtifacts(build, root, AbortSignal.timeout(300_000));
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-overlay-'));
  cleanup.defer(() => rm(folder, { recursive: true }));
  const plane = await startControlPlane({
    controllerManager: true,
    auditLog: true,
    apiServerFlags,
    enableAdmission: ['ServiceAccount', 'OwnerReferencesPermissionEnforcement'],
  });
  cleanup.defer(() => plane.stop());
  const client = createClient(plane.connection(), { userAgent: 'kubelet' });
  cleanup.defer(() => client.close());
  const kubectl = await createKubectl(plane.kubectlPath, plane.kubeconfig(), systemNamespace);
  cleanup.defer(() => kubectl.close());
  const sts = await startWebIdentityServer(client);
  cleanup.defer(() => sts.stop());
  const programs = await nodePrograms(client, {
    dockerfile: path.join(root, 'dist/watcher/Dockerfile'),
    context: path.join(root, 'dist/watcher'),
    image: 'registry.example.com/outrigger-watcher',
    server: new URL(plane.url),
  });
  cleanup.defer(() => programs.close());
  const errors: string[] = [];
  const outcomes: RecordedProbe[] = [];
  const listeners = new Set<(outcome: RecordedProbe) => void>();
  let kubelet: Kubelet | undefined;
  cleanup.defer(async () => await kubelet?.close());
  const rolledOut = async (): Promise<void> => {
    await kubectl.output(['rollout', 'status', 'deployment/outrigger-watcher', '--timeout=170s']);
  };
  const running = () => programs.started.filter(({ ended }) => ended() === undefined);
  let probeSpeed = 1;
  // In slices, so that a new speed holds for a wait that has begun.
  const wait: Wait = async (seconds, signal) => {
    for (let left = seconds; left > 0; left -= 1) await sleep(Math.min(left, 1) / probeSpeed, signal);
  };
  const resources = cleanup.move();
  return {
    plane,
    client,
    kubectl,
    sts,
    programs,
    errors,
    outcomes,
    rolledOut,
    running,
    setProbeSpeed: (speed) => {
      probeSpeed = speed;
    },
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
        resources: ['base'],
        configMapGenerator: [
          {
            name: 'outrigger-watcher',
            namespace: systemNamespace,
            behavior: 'merge',
            literals: Object.entries(literals).map(([name, value]) => `${name}=${value}`),
          },
        ],
        patches: [{ patch: JSON.stringify(byWebhook) }],
      };
      const roleArn = 'arn:aws:iam::123456789012:role/outrigger-prod-watcher';
      const image = `registry.example.com/outrigger-watcher@sha256:${'0'.repeat(64)}`;
      await writeFiles(
        path.join(folder, 'base'),
        await sampleBase({ roleArn, image, settings: { AWS_REGION: 'eu-central-1' } }),
      );
      await writeFile(path.join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
      await kubectl.output(['apply', '--server-side', '-k', folder]);
    },
    async run() {
      kubelet = await startKubelet(client, {
        acceptsNamespace: (namespace) => runsAll || namespace === systemNamespace,
        programs,
        wait,
        onError: (line) => errors.push(line),
        onProbe: (pod, outcome) => {
          outcomes.push({ pod, ...outcome });
          for (const listener of listeners) listener({ pod, ...outcome });
        },
      });
      await rolledOut();
    },
    probed: (wanted) =>
      new Promise((resolve) => {
        const listener = (outcome: RecordedProbe): void => {
          if (!wanted(outcome)) return;
          listeners.delete(listener);
          resolve(outcome);
        };
        listeners.add(listener);
      }),
    async applyTank(name, targetLevel = 1) {
      const object = {
        apiVersion: tanks.apiVersion,
        kind: tanks.kind,
        metadata: { name, namespace: 'default' },
        spec: { targetLevel, capacity: 100 },
      };
      await applyObject(client, tanks, object, { fieldManager: 'user' });
    },
    close: () => resources.disposeAsync(),
  };
}

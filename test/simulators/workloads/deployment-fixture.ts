// Where the cases of Deployments take place: one Deployment in a namespace of its own, and a kubelet that runs its pods.
import { beforeEach } from 'vitest';
import type { Body } from '../../conformance/body.ts';
import { openTheatre, type Stage, statusOf, type Theatre } from './workloads-harness.ts';

/** What the Deployment selects. */
export const labels = { app: 'one' };

/** The Deployment, with two pods unless its spec says otherwise. */
export function deployment(spec: object = {}): object {
  const containers = [{ name: 'c', image: 'i:1', ports: [{ name: 'http', containerPort: 8080 }] }];
  // Bound pods otherwise stay until a kubelet has let them end.
  const template = { metadata: { labels }, spec: { containers, terminationGracePeriodSeconds: 0 } };
  return {
    metadata: { name: 'one', annotations: { note: 'x' } },
    spec: { replicas: 2, selector: { matchLabels: labels }, template, ...spec },
  };
}

/** A patch to another template. */
export const otherTemplate = (image: string) => ({
  spec: { template: { spec: { containers: [{ name: 'c', image }] } } },
});
/** Holds when there are so many. */
export const count = (wanted: number) => (objects: readonly Body[]) => objects.length === wanted;

/** Opens a theatre for each case. */
export function deploymentScene(stage: Stage) {
  let at: Theatre;
  let addresses = 0;
  beforeEach(async () => {
    at = await openTheatre(stage);
  });
  const address = (): string => {
    addresses += 1;
    return `10.9.${Math.floor(addresses / 200)}.${(addresses % 200) + 1}`;
  };
  /** Runs every pod that waits, until there are so many that run, of this ReplicaSet. */
  const runAll = async (fits: (pods: readonly Body[]) => boolean): Promise<readonly Body[]> => {
    const started = new Set<string>();
    return at.until('pods', (pods) => {
      for (const pod of pods) {
        const name = pod.metadata?.name ?? '';
        if (statusOf(pod).phase !== 'Pending' || started.has(name)) continue;
        started.add(name);
        void at.run(name, address()).catch(() => undefined);
      }
      return pods.every((pod) => statusOf(pod).phase === 'Running') && fits(pods);
    });
  };
  const whenStatus = async (fits: (status: Readonly<Record<string, unknown>>) => boolean) => {
    const [one] = await at.until('deployments', ([first]) => first !== undefined && fits(statusOf(first)));
    return one;
  };
  const available = (replicas: number) => whenStatus((status) => (status.availableReplicas ?? 0) === replicas);
  return {
    /** The theatre of the case that runs. */
    theatre: () => at,
    address,
    runAll,
    whenStatus,
    available,
  };
}

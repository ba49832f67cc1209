// The fixture of the Deployment cases: one Deployment in a namespace of its own, and a kubelet that runs its pods.
import { beforeEach } from 'vitest';
import type { Body } from '../../conformance/body.ts';
import { type NamespaceFixture, openNamespaceFixture, statusOf, type WorkloadHarness } from './workloads-harness.ts';

/** The labels that the Deployment selects. */
export const labels = { app: 'one' };

/** The Deployment, with two pods unless `spec` overrides it. */
function deployment(spec: object = {}): object {
  const containers = [{ name: 'c', image: 'i:1', ports: [{ name: 'http', containerPort: 8080 }] }];
  // Pods that are bound to a node otherwise stay until a kubelet has let them end.
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
/** A check that holds for this number of objects. */
export const count = (wanted: number) => (objects: readonly Body[]) => objects.length === wanted;

type Check = (objects: readonly Body[]) => boolean;

/** Opens a fixture for each case. */
export function deploymentFixture(harness: WorkloadHarness) {
  let fixture: NamespaceFixture;
  let addresses = 0;
  beforeEach(async () => {
    fixture = await openNamespaceFixture(harness);
  });
  const address = (): string => {
    addresses += 1;
    return `10.9.${Math.floor(addresses / 200)}.${(addresses % 200) + 1}`;
  };
  /** Runs every pending pod until all pods run and `matches` holds. */
  const runAll = async (matches: Check): Promise<readonly Body[]> => {
    const started = new Set<string>();
    return fixture.until('pods', (pods) => {
      for (const pod of pods) {
        const name = pod.metadata?.name ?? '';
        if (statusOf(pod).phase !== 'Pending' || started.has(name)) continue;
        started.add(name);
        void fixture.run(name, address()).catch(() => undefined);
      }
      return pods.every((pod) => statusOf(pod).phase === 'Running') && matches(pods);
    });
  };
  const whenStatus = async (matches: (status: Readonly<Record<string, unknown>>) => boolean) => {
    const [one] = await fixture.until('deployments', ([first]) => first !== undefined && matches(statusOf(first)));
    return one;
  };
  const available = (replicas: number) => whenStatus((status) => (status.availableReplicas ?? 0) === replicas);
  return {
    /** The fixture of the present case. */
    fixture: () => fixture,
    make: (spec?: object) => fixture.make('deployments', deployment(spec)),
    change: (patch: object) => fixture.change('deployments', 'one', patch),
    untilPods: (check: Check) => fixture.until('pods', check),
    untilSets: (check: Check) => fixture.until('replicasets', check),
    address,
    runAll,
    whenStatus,
    available,
  };
}

// The Services of a StatefulSet: one for each pod, with the ports of an annotation.
import { Service, StatefulSet } from 'outrigger/kubernetes';
import { battery, startSystem } from 'outrigger/testing';
import { expect, it } from 'vitest';
import { servicePerPod } from '../../src/controllers/service-per-pod.ts';

const key = { namespace: 'default', name: 'nginx' };
const labels = { app: 'nginx' };
const annotations = {
  'service-per-pod-label': 'statefulset.kubernetes.io/pod-name',
  'service-per-pod-ports': '80:8080,443',
};
const sample = (replicas: number, given: object = annotations) => ({
  apiVersion: StatefulSet.apiVersion,
  kind: 'StatefulSet',
  metadata: { ...key, annotations: given },
  spec: {
    serviceName: 'nginx',
    replicas,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'nginx', image: 'nginx' }] } },
  },
});

it('each pod has a Service, also after a change of their number, and none when the annotations are gone', async () => {
  await using system = await startSystem({ controllers: [servicePerPod] });
  const services = async (set: object) => {
    await system.cluster.apply(set);
    await system.settled();
    return await system.cluster.list(Service);
  };
  const [first, second, ...more] = await services(sample(2));
  expect(more).toEqual([]);
  expect(first?.spec).toMatchObject({
    selector: { 'statefulset.kubernetes.io/pod-name': 'nginx-0' },
    ports: [
      { name: 'port-80', port: 80, targetPort: 8080 },
      { name: 'port-443', port: 443, targetPort: 443 },
    ],
  });
  expect(second?.metadata.name).toBe('nginx-1');
  expect((await services(sample(3))).map(({ metadata }) => metadata.name)).toEqual(['nginx-0', 'nginx-1', 'nginx-2']);
  expect(await services(sample(1))).toHaveLength(1);
  expect(await services(sample(1, {}))).toEqual([]);
});

for (const { name, run } of battery(servicePerPod, { samples: [sample(2), sample(1)] })) it(name, run);

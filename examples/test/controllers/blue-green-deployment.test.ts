// A change of version: the Service leads to the old colour until all of the new one is available.
import { Deployment, Service } from 'outrigger/kubernetes';
import { battery, startSystem } from 'outrigger/testing';
import { expect, it } from 'vitest';
import { BlueGreenDeployment, blueGreenDeployment } from '../../src/controllers/blue-green-deployment.ts';

const key = { namespace: 'default', name: 'web' };
const sample = (image: string) => ({
  apiVersion: BlueGreenDeployment.apiVersion,
  kind: 'BlueGreenDeployment',
  metadata: key,
  spec: {
    replicas: 2,
    ports: [{ port: 80, targetPort: 8080 }],
    podSpec: { automountServiceAccountToken: false, containers: [{ name: 'web', image }] },
  },
});

it('a new version is served when it is available, and a version that is taken back is served all the time', async () => {
  await using system = await startSystem({ controllers: [blueGreenDeployment] });
  const apply = async (image: string) => {
    await system.cluster.apply(sample(image));
    await system.settled();
  };
  const makeAvailable = async (color: string) => {
    const metadata = { namespace: 'default', name: `web-${color}` };
    const conditions = [{ type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable' }];
    const generation = (await system.cluster.get(Deployment, metadata))?.metadata.generation;
    const status = {
      observedGeneration: generation,
      replicas: 2,
      updatedReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
      conditions,
    };
    await system.cluster.apply({ apiVersion: 'apps/v1', kind: 'Deployment', metadata, status });
    await system.settled();
  };
  const world = async () => ({
    served: (await system.cluster.get(Service, key))?.spec?.selector?.color,
    running: (await system.cluster.list(Deployment)).map(({ metadata }) => metadata.name).sort(),
  });

  await apply('nginx:1');
  await makeAvailable('blue');
  await apply('nginx:2');
  expect(await world()).toEqual({ served: 'blue', running: ['web-blue', 'web-green'] });
  await apply('nginx:1');
  expect(await world()).toEqual({ served: 'blue', running: ['web-blue'] });
  await apply('nginx:2');
  await makeAvailable('green');
  expect(await world()).toEqual({ served: 'green', running: ['web-green'] });
  await apply('nginx:3');
  await makeAvailable('blue');
  expect(await world()).toEqual({ served: 'blue', running: ['web-blue'] });
});

// One sample: after a change the colour is another one than that of a new object, on purpose.
for (const { name, run } of battery(blueGreenDeployment, { samples: [sample('nginx:1')] })) it(name, run);

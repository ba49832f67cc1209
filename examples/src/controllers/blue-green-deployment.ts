// BlueGreenDeployment of Metacontroller: a new version starts next to the old one, in the other colour. Its Service leads
// to it when all of it is available, and then the old one goes.
import { createHash } from 'node:crypto';
import { defineKind, deploymentAvailable, notOk, ok, type ResultOf } from 'outrigger';
import { Deployment, Service } from 'outrigger/kubernetes';
import * as z from 'zod';

const colour = z.enum(['blue', 'green']);

export const BlueGreenDeployment = defineKind({
  group: 'ctl.enisoc.com',
  version: 'v1',
  kind: 'BlueGreenDeployment',
  spec: z.object({
    replicas: z.int().min(1).max(100).default(1),
    minReadySeconds: z.int().min(0).default(0),
    ports: z.array(z.object({ port: z.int().min(1).max(65_535), targetPort: z.int().min(1).max(65_535) })).min(1),
    podSpec: z.looseObject({}).describe('The spec of the pods: another one is a new version.'),
  }),
  status: z.object({
    color: colour.describe('Where the Service leads.'),
    version: z.string().describe('A digest of the spec of these pods.'),
  }),
  conditions: ['Available', 'Current'],
  columns: { Color: '.status.color', Version: '.status.version' },
});

export const blueGreenDeployment = BlueGreenDeployment.controller('blue-green-deployment', {
  owns: [Deployment, Service],

  async reconcile(
    { metadata: { name }, spec: { podSpec, replicas, minReadySeconds, ports }, status },
    { apply, applyAll, get },
  ): Promise<ResultOf<typeof BlueGreenDeployment>> {
    const version = createHash('sha256').update(JSON.stringify(podSpec)).digest('hex').slice(0, 10);
    // A status that was lost, as by a restore, is read from the Service.
    const served = async () => colour.safeParse((await get(Service, { name }))?.spec?.selector?.color).data ?? 'blue';
    const live = status ?? { color: await served(), version };
    const isCurrent = live.version === version;
    const color = isCurrent ? live.color : live.color === 'blue' ? 'green' : 'blue';

    const labels = { app: name, color };
    const desired = {
      metadata: { name: `${name}-${color}`, labels },
      spec: {
        replicas,
        minReadySeconds,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: podSpec },
      },
    };
    // While the new version starts, the live one is kept as it is.
    const deployments = await applyAll(Deployment, (existing) => [
      desired,
      ...existing.filter((one) => !isCurrent && one.metadata.name === `${name}-${live.color}`),
    ]);
    const available = deploymentAvailable(deployments.find((one) => one.metadata.name === desired.metadata.name));

    const isServed = isCurrent || available.status === 'True';
    const selector = { app: name, color: isServed ? color : live.color };
    await apply(Service, { metadata: { name }, spec: { selector, ports } }, { exact: ['spec.ports', 'spec.selector'] });
    if (!isServed)
      return {
        status: live,
        conditions: { Available: ok('LiveVersion'), Current: notOk('Starting', available.message) },
      };
    // The change of the Service has the object reconciled again: then it is current, and the old version goes.
    return { status: { color, version }, conditions: { Available: available, Current: ok('Current') } };
  },
});

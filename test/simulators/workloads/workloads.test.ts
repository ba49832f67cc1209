// The stand-in for workloads does what kube-controller-manager does, case by case; test/cluster/workloads.test.ts shows that the
// cases are right. The kubelet's part is kubelet.test.ts.
import { afterAll, describe, expect } from 'vitest';
import { createClient } from '../../../src/kube/client/client.ts';
import { startApiServer } from '../../../src/apiserver/server.ts';
import { startWorkloads } from '../../../src/simulators/workloads/workloads.ts';
import { createWire } from '../../conformance/wire.ts';
import { deploymentCases } from './deployment-cases.ts';
import { deploymentRollingCases } from './deployment-rolling-cases.ts';
import { serviceCases } from './service-cases.ts';
import { statefulSetCases } from './stateful-set-cases.ts';

const server = await startApiServer();
const client = createClient({ server: new URL(server.url) });
const errors: string[] = [];
const workloads = await startWorkloads(client, {
  startsPods: false,
  onTrouble: (line) => errors.push(line),
});
afterAll(async () => {
  await workloads.close();
  client.close();
  await server.close();
  expect(errors).toEqual([]);
});

const stage = { wire: createWire({ url: server.url }) };
describe('Deployments', () => deploymentCases(stage));
describe('Deployments that change', () => deploymentRollingCases(stage));
describe('Services', () => serviceCases(stage));
describe('StatefulSets', () => statefulSetCases(stage));

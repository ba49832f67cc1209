// The workload simulator behaves as kube-controller-manager, case by case; test/cluster/workloads.test.ts verifies the
// cases against kube-controller-manager. The kubelet's part is in kubelet.test.ts.
import { afterAll, describe, expect } from 'vitest';
import { startApiServer } from '../../../src/apiserver/server.ts';
import { createClient } from '../../../src/kube/client/client.ts';
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
  onError: (line) => errors.push(line),
});
afterAll(async () => {
  await workloads.close();
  client.close();
  await server.close();
  expect(errors).toEqual([]);
});

const harness = { wire: createWire({ url: server.url }) };
describe('Deployments', () => deploymentCases(harness));
describe('Deployments that change', () => deploymentRollingCases(harness));
describe('Services', () => serviceCases(harness));
describe('StatefulSets', () => statefulSetCases(harness));

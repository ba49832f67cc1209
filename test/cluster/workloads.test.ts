// The workload cases on the real kube-controller-manager, which verifies the cases. Excluded: the simulator
// (test/simulators/workloads).
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { createWire } from '../conformance/wire.ts';
import '../../tools/control-plane/global-setup.ts';
import { deploymentCases } from '../simulators/workloads/deployment-cases.ts';
import { deploymentRollingCases } from '../simulators/workloads/deployment-rolling-cases.ts';
import { serviceCases } from '../simulators/workloads/service-cases.ts';
import { statefulSetCases } from '../simulators/workloads/stateful-set-cases.ts';

const { url, ca, adminToken } = inject('controlPlane');
const wire = createWire({ url, ca, token: adminToken });
const node = 'workloads';
beforeAll(() => wire.post('/api/v1/nodes', { metadata: { name: node } }));
afterAll(() => wire.remove(`/api/v1/nodes/${node}`));

const harness = { wire, node };
// The cases are checked against kube-controller-manager, which on a loaded machine may delay a change by up to a
// minute: such a case is retried in a new namespace.
const options = { retry: 2, timeout: 30_000 };
describe('Deployments', options, () => deploymentCases(harness));
describe('Deployments that change', options, () => deploymentRollingCases(harness));
describe('Services', options, () => serviceCases(harness));
describe('StatefulSets', options, () => statefulSetCases(harness));

// The cases of workloads on the real kube-controller-manager: they are right. Excluded: our own stand-in (test/local/workloads).
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

const stage = { wire, node };
// What is asked here is whether the cases are true of kube-controller-manager, which on a loaded machine has now and then let a
// change lie for a minute: such a case is asked again, in a new namespace.
const patience = { retry: 2, timeout: 30_000 };
describe('Deployments', patience, () => deploymentCases(stage));
describe('Deployments that change', patience, () => deploymentRollingCases(stage));
describe('Services', patience, () => serviceCases(stage));
describe('StatefulSets', patience, () => statefulSetCases(stage));

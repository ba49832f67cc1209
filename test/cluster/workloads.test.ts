// The cases of workloads on the real kube-controller-manager: they are right. Excluded: our own stand-in (test/local/workloads).
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { createWire } from '../conformance/wire.ts';
import '../control-plane/global-setup.ts';
import { deploymentCases } from '../local/workloads/deployment-cases.ts';
import { deploymentRollingCases } from '../local/workloads/deployment-rolling-cases.ts';
import { serviceCases } from '../local/workloads/service-cases.ts';
import { statefulSetCases } from '../local/workloads/stateful-set-cases.ts';

const { url, ca, adminToken } = inject('controlPlane');
const wire = createWire({ url, ca, token: adminToken });
const node = 'workloads';
beforeAll(() => wire.post('/api/v1/nodes', { metadata: { name: node } }));
afterAll(() => wire.remove(`/api/v1/nodes/${node}`));

const stage = { wire, node };
describe('Deployments', () => deploymentCases(stage));
describe('Deployments that change', () => deploymentRollingCases(stage));
describe('Services', () => serviceCases(stage));
describe('StatefulSets', () => statefulSetCases(stage));

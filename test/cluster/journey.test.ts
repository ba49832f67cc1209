// The journeys on a real control plane: the same cases as on the embedded API server, with lists, watches, applies and
// garbage collection of a real kube-apiserver and kube-controller-manager. It needs a control plane of its own: these
// controllers reconcile every object of their kinds, including those of other test files.
import { afterAll } from 'vitest';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { describeJourneys } from '../journey/suite.ts';

const plane = await startControlPlane({ controllerManager: true });
afterAll(() => plane.stop());

describeJourneys('on a real control plane', () => ({ kubeconfig: plane.kubeconfig() }));

// The journeys against a real control plane: the same cases as on the embedded parts, with the watcher's list and watch, the
// applies and the garbage collection all done by a real kube-apiserver and kube-controller-manager. A plane of its own: these controllers
// take up whatever object of their kinds there is, and other files' objects are to be left alone.
import { afterAll } from 'vitest';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { describeJourneys } from '../journey/suite.ts';

const plane = await startControlPlane({ controllerManager: true });
afterAll(() => plane.stop());

describeJourneys('on a real control plane', () => ({ kubeconfig: plane.kubeconfig() }));

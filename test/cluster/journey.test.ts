// The journeys against a real control plane: the same cases as on the embedded parts, with the watcher's list and watch, the
// applies and the garbage collection all done by a real kube-apiserver and kube-controller-manager.
import { inject } from 'vitest';
import { describeJourneys } from '../journey/suite.ts';

describeJourneys('on a real control plane', () => ({ kubeconfig: inject('controlPlane').kubeconfig }));

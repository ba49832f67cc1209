// The most common peer: a controller written with controller-runtime (go/controller-runtime, go/reconcilers).
import type { Contestant } from './contestant.ts';
import { goContestant } from './go-programs.ts';

/** controller-runtime as in the kubebuilder book; its best settings are ten concurrent reconciles, or CONCURRENCY. */
export const controllerRuntime: Contestant = {
  name: 'controller-runtime',
  jobs: ['foo', 'ping', 'slow'],
  settings: ['default', 'best'],
  prepare: () => goContestant('controller-runtime', 'sigs.k8s.io/controller-runtime'),
};

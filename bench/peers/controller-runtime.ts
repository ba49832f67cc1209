// The peer that most people would take: a controller written with controller-runtime (go/controller-runtime, go/reconcilers).
import type { Contestant } from '../../test/bench/peers/contestant.ts';
import { goContestant } from './go-programs.ts';

/** controller-runtime as the kubebuilder book has it; at its best with ten reconciles at a time, or as many as CONCURRENCY says. */
export const controllerRuntime: Contestant = {
  name: 'controller-runtime',
  jobs: ['foo', 'ping', 'slow'],
  settings: ['default', 'best'],
  prepare: () => goContestant('controller-runtime', 'sigs.k8s.io/controller-runtime'),
};

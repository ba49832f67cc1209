// The peer without a framework: a controller written only with client-go, as in k8s.io/sample-controller
// (go/sample-controller).
import type { Contestant } from './contestant.ts';
import { goContestant } from './go-programs.ts';

/** As sample-controller; its best settings are no request limit of client-go, and ten workers, or CONCURRENCY. */
export const sampleController: Contestant = {
  name: 'sample-controller',
  jobs: ['foo', 'ping', 'slow'],
  settings: ['default', 'best'],
  prepare: () => goContestant('sample-controller', 'k8s.io/client-go'),
};

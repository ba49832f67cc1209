// The peer without a framework: a controller written with client-go alone, as k8s.io/sample-controller shows it (go/sample-controller).
import type { Contestant } from '../../test/bench/peers/contestant.ts';
import { goContestant } from './go-programs.ts';

/** sample-controller's way; at its best without client-go's limit of requests, and with ten workers or as many as CONCURRENCY says. */
export const sampleController: Contestant = {
  name: 'sample-controller',
  jobs: ['foo', 'ping', 'slow'],
  settings: ['default', 'best'],
  prepare: () => goContestant('sample-controller', 'k8s.io/client-go'),
};

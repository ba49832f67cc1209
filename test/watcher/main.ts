// The watcher of the samples as a program, like the bundle that a build makes.
import { runWatcher } from '../../src/watcher/run.ts';
import { sampleWatchList } from '../support/sample-manifests.ts';

await runWatcher(sampleWatchList);

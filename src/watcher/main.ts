// What the Deployment's image runs: the watcher, with what this service's controllers want watched.
import watchList from '../../infra/kubernetes/generated/watch-list.json' with { type: 'json' };
import { runWatcher } from './run.ts';

await runWatcher(watchList);

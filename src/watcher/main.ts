// The entry point of the Deployment's image: the watcher, with the watch list of this service's controllers.
import watchList from '../../infra/kubernetes/generated/watch-list.json' with { type: 'json' };
import { runWatcher } from './run.ts';

await runWatcher(watchList);

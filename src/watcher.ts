// The package's entry `outrigger/watcher`: what a project's src/watcher/main.ts runs.
export { runWatcher } from './watcher/run.ts';

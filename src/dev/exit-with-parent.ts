// Preloaded into the watcher's process (`--import`): ends it when the process that started it is gone, however that ended.
// The watcher itself must not know of this: in a cluster nobody holds its leash. An entry point; it exports nothing.
process.once('disconnect', () => process.exit(0));
process.channel?.unref();

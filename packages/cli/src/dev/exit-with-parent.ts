// Preloaded into the watcher's process (`--import`): ends it when the parent process has ended for any reason. The
// watcher's own code has no part in this, because in a cluster there is no parent. An entry point; it exports nothing.
process.once('disconnect', () => process.exit(0));
process.channel?.unref();

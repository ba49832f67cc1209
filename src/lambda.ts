// The package's entry `outrigger/lambda`: what a file in functions/ makes its handler with.
export { type EnqueueKey, type EnqueueOptions, enqueue } from './lambda/enqueue.ts';
export { createReconcileHandler } from './lambda/reconcile-handler.ts';
export { createResyncHandler, type ResyncEvent } from './lambda/resync-handler.ts';
export { createTimersHandler } from './lambda/timers-handler.ts';
export { createWakeHandler } from './lambda/wake-handler.ts';

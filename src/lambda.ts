// The package's entry `outrigger/lambda`: the functions with which the files in functions/ create their handlers.
export { type EnqueueKey, type EnqueueOptions, enqueue } from './lambda/enqueue.ts';
export { createReconcileHandler } from './lambda/reconcile-handler.ts';
export { createResyncHandler, type ResyncEvent } from './lambda/resync-handler.ts';
export { createTimersHandler } from './lambda/timers-handler.ts';
export { createWakeHandler } from './lambda/wake-handler.ts';

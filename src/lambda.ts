// The package's entry `outrigger/lambda`: what a file in functions/ makes its handler with.
export { createReconcileHandler } from './lambda/reconcile-handler.ts';
export { createResyncHandler, type ResyncEvent } from './lambda/resync-handler.ts';
export { createTimersHandler } from './lambda/timers-handler.ts';

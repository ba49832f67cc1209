// The package's entry `outrigger/testing`: for tests of reconcilers.

export type { Fault, FaultEffect } from '@outrigger/apiserver/http/faults';
export { startApiServer, type TestApiServer, type TestApiServerOptions } from './testing/api-server.ts';
export { battery } from './testing/battery/battery.ts';
export { type BatteryCheck, BatteryError, type BatteryOptions, type OutsideWorld } from './testing/battery/contract.ts';
export {
  type ReconcileRecord,
  startSystem,
  type TestSystem,
  type TestSystemOptions,
} from './testing/system/start-system.ts';
export { type RecordedEvent, type TestContext, type TestContextOptions, testContext } from './testing/test-context.ts';

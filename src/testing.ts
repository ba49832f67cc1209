// The package's entry `outrigger/testing`: for tests of reconcilers.
export { type RecordedEvent, type TestContext, type TestContextOptions, testContext } from './testing/test-context.ts';

// The test files of `npm run test:process`: each starts whole processes of the system, compilers or bundlers, and waits for
// them in real time.

/** Files and folders as globs from the root of the repository. */
export const processTier = [
  'test/api/author-messages.test.ts',
  'test/cli/{build,build-command,zod-copies}.test.ts',
  'test/cli/dry-run/{means,process,replay}.test.ts',
  'test/cli/new/{example,new-controller}.test.ts',
  'test/dev/watchers.test.ts',
  'test/dev/lambda/{event-sources,local-lambda}.test.ts',
  'test/fleet/**/*.test.ts',
  'test/journey/**/*.test.ts',
  'test/security/*.test.ts',
  'test/structure/package.test.ts',
  'test/tools/chaos/chaos.test.ts',
  'test/tools/chaos/effects/**/*.test.ts',
  'test/tools/install.test.ts',
  'test/tools/control-plane/child-processes.test.ts',
  'test/waking/bundle.test.ts',
  'test/watcher/{main,pod-identity}.test.ts',
];

// The test files outside of test/deploy that package the template with osls. `npm run test:deploy` runs them: osls has a
// lock file of its own in infra, and `npm ci` does not install it.

/** Files from the root of the repository. */
export const packagedTier = [
  'test/generate/console.test.ts',
  'test/generate/controller-options.test.ts',
  'test/generate/limits.test.ts',
  'test/generate/overrides.test.ts',
  'test/generate/packaged.test.ts',
  'test/generate/public-template.test.ts',
  'test/generate/wakes.test.ts',
];

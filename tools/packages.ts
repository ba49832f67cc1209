// How the packages of this repository find each other: their exports have a condition that leads to the sources. npm
// scripts have it by .npmrc, and tests and bundles by these. What is published has the same exports without sources.

/** The condition of exports that leads to the sources. */
const sourceCondition = 'outrigger-source';

/** The option by which Node knows the condition, for processes that are not started by npm. */
export const sourceOption = `--conditions=${sourceCondition}`;

const resolve = { conditions: [sourceCondition, 'node', 'development|production'] };

/** Conditions of the imports of a test, and of a global setup, for vitest. */
export const withSources = { resolve, ssr: { resolve }, environments: { __vitest__: { resolve } } };

/** The environment of a program of the repository, or of a packed one. */
export function environmentOf(program: string): NodeJS.ProcessEnv {
  return program.endsWith('.ts') ? { ...process.env, NODE_OPTIONS: sourceOption } : packedEnvironment();
}

/**
 * The environment of a program of the packed packages: without the condition, which npm hands on, as their sources are
 * not to be run.
 */
export function packedEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, NODE_OPTIONS: undefined, npm_config_node_options: undefined };
}

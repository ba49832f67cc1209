// What the build replaces in the bundles of functions: for imports of the runtime alone. A file that the author's
// sources reach (author-files.ts) is bundled as it is, with the classes and names of its package.
import { readFile } from 'node:fs/promises';
import type { OnLoadArgs, OnLoadResult, Plugin } from 'esbuild';
import { runtimeModule } from '../../project/own-module.ts';
import type { AuthorFiles } from './author-files.ts';

/** What a bundle may leave out, or has to have. */
export type Replacements = {
  readonly author: AuthorFiles;
  /** Whether the controller runs commands: only its function needs the runtime's WebSocket. */
  readonly runsCommands: boolean;
};

/** Makes the plugin for a function. */
export function replacements({ author, runsCommands }: Replacements): Plugin {
  return {
    name: 'replacements',
    setup: ({ onResolve, onLoad }) => {
      // An import statement reads every export of a module of Node, and some load more of Node when they are read:
      // fetch in http, the standard streams in process. That would be a quarter of the time in which a function loads.
      onResolve({ filter: /^(node:)?(http|process|util)$/ }, ({ path: name, kind, importer }) =>
        kind === 'import-statement' && !author.has(importer)
          ? { path: name.replace(/^node:/, ''), namespace: 'as-required', sideEffects: false }
          : undefined,
      );
      onLoad({ filter: /.*/, namespace: 'as-required' }, ({ path: name }) => ({
        contents: `module.exports = process.getBuiltinModule('node:${name}');`,
      }));
      // A function's credentials are in its environment; the SDK's provider chain is a quarter of a bundle.
      onResolve({ filter: /^@aws-sdk\/credential-provider-node$/ }, ({ importer }) =>
        author.has(importer) ? undefined : { path: runtimeModule('lambda/function-credentials') },
      );
      onResolve({ filter: /^ws$/ }, ({ importer }) =>
        runsCommands || author.has(importer) ? undefined : { path: 'ws', namespace: 'left-out' },
      );
      onLoad({ filter: /^ws$/, namespace: 'left-out' }, () => ({
        contents:
          "export const WebSocket = class { constructor() { throw new Error('declare exec to run commands'); } };",
      }));
      onLoad({ filter: /\.[cm]?[jt]sx?$/ }, ({ path: file }) => {
        const contents = author.withNames(file);
        return contents === undefined ? undefined : { contents, loader: 'js' };
      });
      for (const { filter, load } of lighterFiles)
        onLoad({ filter }, async (file) => (author.has(file.path) ? undefined : await load(file)));
      onLoad({ filter: /zod[\\/]v4[\\/]core[\\/](json-schema-processors|to-json-schema)\.js$/ }, async (file) =>
        author.convertSchemas ? undefined : await withoutConversion(file),
      );
    },
  };
}

type Lighter = {
  readonly filter: RegExp;
  readonly load: (file: OnLoadArgs) => Promise<OnLoadResult>;
};

const lighterFiles: readonly Lighter[] = [
  // Only the version is in the user agent.
  {
    filter: /@aws-sdk[\\/]client-[^\\/]+[\\/]package\.json$/,
    load: async ({ path: file }) => {
      const { version } = JSON.parse(await readFile(file, 'utf8'));
      return { contents: JSON.stringify({ version }), loader: 'json' };
    },
  },
  // The operations that no source imports, and the classes of errors but the one that the runtime names: any other is
  // the base class, with the same name and message.
  {
    filter: /@aws-sdk[\\/]client-sqs[\\/]dist-es[\\/]schemas[\\/]schemas_0\.js$/,
    load: async ({ path: file }) => {
      const source = await readFile(file, 'utf8');
      const texts = new Map([...source.matchAll(/^const (\w+) = (".*");$/gm)].map(([, name, text]) => [name, text]));
      const contents = source
        .replaceAll(/^n0_registry\.registerError\((?!QueueDoesNotExist\$).*\);$/gm, '')
        // The bundler keeps an unused constant with a computed key.
        .replaceAll(/\[(_\w+)\]: /g, (key, name) => (texts.has(name) ? `${texts.get(name)}: ` : key));
      return { contents, loader: 'js' };
    },
  },
  // What the AWS clients have for people who choose a region, for a machine that asks for its own, for browsers, and
  // for a Node without its own hashes.
  {
    filter: /util-endpoints[\\/]lib[\\/]aws[\\/]partitions\.js$/,
    load: async ({ path: file }) => ({
      contents: (await readFile(file, 'utf8')).replaceAll(/"description": "[^"]*"/g, ''),
      loader: 'js',
    }),
  },
  {
    filter: /node_modules[\\/]bowser[\\/]/,
    load: async () => ({ contents: 'export default {};', loader: 'js' }),
  },
  ...['Sha256Js', 'Md5Js'].map((name) => ({
    filter: new RegExp(`@smithy[\\\\/]core[\\\\/].*[\\\\/]${name}\\.js$`),
    load: async (): Promise<OnLoadResult> => ({
      contents: `export class ${name} { constructor() { throw new Error('this Node lacks a hash of its own'); } }`,
      loader: 'js',
    }),
  })),
  {
    filter: /@smithy[\\/]core[\\/].*[\\/]getInstanceMetadataRegion\.js$/,
    load: async () => ({ contents: 'export const getInstanceMetadataRegion = async () => undefined;', loader: 'js' }),
  },
];

/** zod without its conversion to JSON schemas, which a function calls only if its author does. */
async function withoutConversion({ path: file }: OnLoadArgs): Promise<OnLoadResult> {
  const names = (await readFile(file, 'utf8')).matchAll(/^export (?:const|function) (\w+)/gm);
  // A schema makes its method at once, and calls it never.
  const exported = [...names].map(
    ([, name = '']) => `${/^create\w+Method$/.test(name) ? 'create' : 'unavailable'} as ${name}`,
  );
  const message = 'z.toJSONSchema is not in this bundle, because no source mentions it by its name';
  const unavailable = `const unavailable = () => { throw new Error('${message}'); };`;
  const contents = `${unavailable}const create = () => unavailable;export { ${exported} };`;
  return { contents, loader: 'js' };
}

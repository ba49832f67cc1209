// What an author reads after a mistake: the first line of TypeScript's message for each. The mistakes are compiled together
// in one run of tsc. Mistakes whose message is any are in author-api.test.ts.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { tsc } from '../support/tsc.ts';

const root = path.resolve(import.meta.dirname, '../..');

const preamble = `
import * as z from 'zod';
import { ConfigMap, Deployment, NetworkPolicy, Service } from '${root}/src/kubernetes.ts';
import { defineKind, type Desired, foreignKind, type Key, ok, type PathOf, type ResultOf } from '${root}/src/outrigger.ts';
import { testContext } from '${root}/src/testing.ts';
const Tank = defineKind({
  group: 'plant.example.com', version: 'v1', kind: 'Tank', conditions: ['AtLevel', 'SensorReachable'],
  spec: z.object({ seats: z.number() }), status: z.object({ action: z.enum(['Filling', 'Holding', 'Unknown']), note: z.string().optional() }),
});
const Tenant = defineKind({
  group: 'example.com', version: 'v1', kind: 'Tenant', scope: 'Cluster', conditions: ['Isolated'], spec: z.object({}), status: z.object({}),
});
const conditions = { AtLevel: ok('InBand'), SensorReachable: ok('Reading') };
const settings = z.object({ PLANT_URL: z.url() });
const status = { action: 'Holding' } as const;
export { ConfigMap, conditions, Deployment, type Desired, foreignKind, type Key, NetworkPolicy, ok, type PathOf, type ResultOf, Service, settings, status, Tank, Tenant, testContext, z };
`;
const reconciling = (body: string, more = '') =>
  `Tank.controller('a', { ${more}async reconcile(object, context): Promise<ResultOf<typeof Tank>> { ${body} return { status, conditions }; } });`;
const returning = (result: string) =>
  `Tank.controller('a', { async reconcile(): Promise<ResultOf<typeof Tank>> { return ${result}; } });`;

/** The mistake, the line that makes it, and how the first line of the message begins; `ends` is how the last one ends. */
const mistakes: readonly { what: string; code: string; first: string | RegExp; last?: string | RegExp }[] = [
  {
    what: 'a typo in a result, annotated',
    code: returning('{ status, conditions, requeueAfter: 5 }'),
    first: "Object literal may only specify known properties, but 'requeueAfter' does not exist in type ",
  },
  {
    what: 'a typo in a result, not annotated',
    code: `Tank.controller('a', { reconcile: async () => ({ status, conditions, requeueAfter: 5 }) });`,
    first: /^Type 'Promise<\{.*requeueAfter: number; \}>' is .* type 'Promise<NotInAResult<"requeueAfter">>'\.$/,
    last: /^Property ''annotate reconcile with Promise<ResultOf<typeof ItsKind>>, which shows the place'' is missing/,
  },
  {
    what: 'a status field that the kind does not have, not annotated',
    code: `Tank.controller('a', { reconcile: async () => ({ status: { ...status, liters: 5 }, conditions }) });`,
    first: /^Type 'Promise<\{.*liters: number; .*\}>' is .* type 'Promise<NotInAResult<"liters">>'\.$/,
  },
  {
    what: 'a missing condition, not annotated',
    code: `Tank.controller('a', { reconcile: async () => ({ status, conditions: { AtLevel: ok('A') } }) });`,
    first: /^Type 'Promise<\{.*AtLevel: .*\}>' is not assignable to type .*Record<"AtLevel" \| "SensorReachable", /,
    last: /^Property 'SensorReachable' is missing in type /,
  },
  {
    what: 'a mapping function that returns names',
    code: `Tank.controller('a', { watches: [{ kind: Service, mapToKeys: ({ name }) => [name] }], reconcile: async () => ({ status, conditions }) });`,
    first: "Type 'string' is not assignable to type 'Key'.",
  },
  {
    what: 'an exact path that the kind does not have',
    code: `Tank.controller('a', { owns: [Service], async reconcile(_, { apply }) {
      await apply(Service, { metadata: { name: 'x' } }, { exact: ['spec.selector', 'spec.selector.app', 'spec.port'] });
      return { status, conditions }; } });`,
    first: /'"spec.port"' is not assignable to type .*Did you mean '"spec.ports"'\?$/,
  },
  {
    what: 'a path of PathOf that is in no object, after paths below a field of any content and seven levels down',
    code: `const Blob = foreignKind<{ spec: { raw: object; list: { a: { b: { c: { d: { e: string } } } } }[] } }, 'Blob'>({ group: 'b.example.com', version: 'v1', kind: 'Blob' });
      const below: readonly PathOf<typeof Blob>[] = ['spec.raw', 'spec.raw.of.any', 'spec.list.a.b.c.d.else', 'spec.rwa'];`,
    first: /^Type '"spec.rwa"' is not assignable to type /,
  },
  {
    what: 'Desired of a child of a cluster-scoped object',
    code: `const policy = (): Desired<typeof NetworkPolicy> => ({ metadata: { name: 'x' } });
      Tenant.controller('a', { owns: [NetworkPolicy], async reconcile(_, { apply }) {
      await apply(NetworkPolicy, policy()); return { status: {}, conditions: { Isolated: ok('Isolated') } }; } });`,
    first: /^Argument of type /,
    last: /^Property 'namespace' is missing in type 'ChildMeta<"Namespaced", "Namespaced">'/,
  },
  {
    what: 'an expression of a selector without its values',
    code: `ConfigMap.controller('a', { selector: { matchExpressions: [{ key: 'zone', operator: 'In' }] }, reconcile: async () => undefined });`,
    first: `Type '{ key: string; operator: "In"; }' is not assignable to type 'LabelExpression'.`,
    last: /^Property 'values' is missing in type .* but required in type .*"In" \| "NotIn"/,
  },
  {
    what: 'a missing condition',
    code: returning(`{ status, conditions: { AtLevel: ok('InBand') } }`),
    first:
      /^Property 'SensorReachable' is missing in type '\{ AtLevel: .* \}' but required in type 'Readonly<Record<"AtLevel" \| "SensorReachable", DeclaredCondition>>'\.$/,
  },
  {
    what: 'a condition that is not declared',
    code: returning(`{ status, conditions: { AtLevel: ok('A'), SensorReachable: ok('A'), Extra: ok('A') } }`),
    first:
      'Object literal may only specify known properties, and \'Extra\' does not exist in type \'Readonly<Record<"AtLevel" | "SensorReachable", DeclaredCondition>>\'.',
  },
  {
    what: 'a misspelt enum value',
    code: returning(`{ status: { action: 'Filing' }, conditions }`),
    first:
      'Type \'"Filing"\' is not assignable to type \'"Filling" | "Holding" | "Unknown"\'. Did you mean \'"Filling"\'?',
  },
  {
    what: 'a kind that is not declared',
    code: reconciling('await context.applyAll(Service, []);', 'owns: [Deployment], '),
    first:
      'Argument of type \'ForeignKind<"Service", Live<V1Service, "Namespaced">, "Namespaced">\' is not assignable to parameter of type \'AddItTo<"owns"> | ForeignKind<"Deployment", Live<WithGeneration<V1Deployment>, "Namespaced">, "Namespaced">\'.',
    last: 'Type \'"Service"\' is not assignable to type \'"Deployment"\'.',
  },
  {
    what: 'a child where nothing is owned',
    code: reconciling('await context.applyAll(Service, []);'),
    first:
      'Argument of type \'ForeignKind<"Service", Live<V1Service, "Namespaced">, "Namespaced">\' is not assignable to parameter of type \'AddItTo<"owns">\'.',
    last: 'Type \'"Service"\' is not assignable to type \'"add the kind to owns"\'.',
  },
  {
    what: 'a list where nothing is read',
    code: reconciling('await context.list(Service);'),
    first: /^Argument of type 'ForeignKind<"Service", .*'AddItTo<"owns"> \| AddItTo<"reads">'\.$/,
  },
  {
    what: 'clients where none are declared',
    code: reconciling('await context.clients.level();'),
    first: "Property 'level' does not exist on type 'NoClientsDeclaredAbove'.",
  },
  {
    what: 'clients below watches',
    code: `Tank.controller('a', { settings,
      watches: [{ kind: Service, mapToKeys: async (changed, { clients }) => clients.only(changed) }],
      clients: ({ PLANT_URL }) => ({ only: (key: Key) => [{ ...key, name: PLANT_URL }] }),
      reconcile: async () => ({ status, conditions }) });`,
    first: "Property 'only' does not exist on type 'NoClientsDeclaredAbove'.",
  },
  {
    what: 'exec where no command is declared',
    code: reconciling(`await context.exec({ name: 'p' }, 'c', ['ls']);`),
    first: 'This expression is not callable.',
    last: "Type 'NoExecDeclared' has no call signatures.",
  },
  {
    what: 'setMetadata where nothing is declared',
    code: reconciling(`await context.setMetadata({ labels: { a: 'b' } });`),
    first: 'This expression is not callable.',
    last: "Type 'NoMetadataDeclared' has no call signatures.",
  },
  {
    what: 'a test without the clients',
    code: `const polled = Tank.controller('a', { clients: () => ({ level: 1 }), reconcile: async () => ({ status, conditions }) }); testContext(polled, {});`,
    first:
      "Argument of type '{}' is not assignable to parameter of type 'TestContextOptions & { readonly clients: NoInfer<{ level: number; }>; }'.",
    last: /^Property 'clients' is missing in type '\{\}' but required in type /,
  },
  {
    what: 'a misspelt option',
    code: `Tank.controller('a', { resyncPeriodSecond: 5, reconcile: async () => ({ status, conditions }) });`,
    first: /^Object literal may only specify known properties, but 'resyncPeriodSecond' does not exist in type /,
  },
  {
    what: 'a misspelt field of a child',
    code: reconciling(
      `await context.apply(Deployment, { metadata: { name: 'a' }, spec: { replica: 1 } });`,
      'owns: [Deployment], ',
    ),
    first: /'replica' does not exist in type .* Did you mean to write 'replicas'\?$/,
  },
  {
    what: 'a child of a cluster-scoped object without namespace',
    code: `Tenant.controller('a', { owns: [NetworkPolicy], async reconcile(_, { apply }) {
      await apply(NetworkPolicy, { metadata: { name: 'x' } }); return { status: {}, conditions: { Isolated: ok('Isolated') } }; } });`,
    first: 'Type \'{ name: string; }\' is not assignable to type \'ChildMeta<"Cluster", "Namespaced">\'.',
    last: /^Property 'namespace' is missing in type '\{ name: string; \}'/,
  },
  {
    what: 'a misspelt field of the spec',
    code: reconciling('console.log(object.spec.seat);'),
    first: "Property 'seat' does not exist on type '{ seats: number; }'.",
  },
  {
    what: 'a slice with a condition of the kind',
    code: `Tank.statusSlice({ status: ['note'], conditions: ['AtLevel'] });`,
    first: "Type 'string' is not assignable to type 'never'.",
  },
  {
    what: 'a slice with a required field',
    code: `Tank.statusSlice({ status: ['action'], conditions: ['NoteWritten'] });`,
    first: 'Type \'"action"\' is not assignable to type \'"note"\'.',
  },
];

/** The message of each mistake, by its index: a first line, and lines that are indented. */
const messages = new Map<number, readonly string[]>();

beforeAll(async () => {
  // Below the repository, so that packages are found.
  const folder = await mkdtemp(path.join(root, 'node_modules/.author-messages-'));
  try {
    await writeFile(path.join(folder, 'preamble.ts'), preamble);
    const names = [...preamble.matchAll(/export \{(.*)\};/g)].map(([, list = '']) => list.trim())[0];
    for (const [index, { code }] of mistakes.entries()) {
      await writeFile(
        path.join(folder, `m${index}.ts`),
        `import { ${names} } from './preamble.ts';\n${code}\nexport {};\n`,
      );
    }
    const tsconfig = {
      extends: path.join(root, 'tsconfig.json'),
      // Each mistake imports all names; those that it does not use are none.
      compilerOptions: {
        noUnusedLocals: false,
        noUnusedParameters: false,
        types: ['node'],
        typeRoots: [path.join(root, 'node_modules/@types')],
      },
      include: [],
      files: mistakes.map((_, index) => `m${index}.ts`),
    };
    await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
    const output = await new Promise<string>((resolve) => {
      execFile(process.execPath, [...tsc, '-p', folder], { cwd: folder }, (_, out) => resolve(out));
    });
    let current: string[] = [];
    for (const line of output.split('\n')) {
      const [, index, message] = /m(\d+)\.ts\(\d+,\d+\): error TS\d+: (.*)$/.exec(line) ?? [];
      if (index === undefined || message === undefined) current.push(line.trim());
      else {
        current = [message];
        // The first error of a mistake is the one that is read first.
        if (!messages.has(Number(index))) messages.set(Number(index), current);
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 60_000);

it.each(
  mistakes.map((mistake, index) => ({ ...mistake, index })),
)('the compiler’s message for $what is the documented one', ({ index, first, last }) => {
  const lines = (messages.get(index) ?? []).filter((line) => line !== '');
  if (typeof first === 'string') expect(lines[0]?.slice(0, first.length)).toBe(first);
  else expect(lines[0]).toMatch(first);
  if (typeof last === 'string') expect(lines.at(-1)).toBe(last);
  else if (last !== undefined) expect(lines.at(-1)).toMatch(last);
});

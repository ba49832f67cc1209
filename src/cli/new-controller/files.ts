// What `outrigger new controller` writes: a whole controller with its function, test, sample and likely bugs, small enough to be
// thrown away line by line. Pure: names in, texts out.

/** The names of a new controller, each derived from the one that was given. */
export type NewNames = {
  /** `WaterTank` */
  readonly kind: string;
  /** `water-tank`: of the controller, its files and its function. */
  readonly name: string;
  /** `waterTank`: in TypeScript. */
  readonly variable: string;
  /** `water-tank.example.com` */
  readonly group: string;
};

/** Reads `WaterTank`, `waterTank` or `water-tank`. Undefined for what cannot be a kind's name. */
export function newNames(given: string, group?: string): NewNames | undefined {
  if (!/^[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*$/.test(given)) return undefined;
  const words = given
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split('-');
  const kind = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  const name = words.join('-');
  return { kind, name, variable: kind.charAt(0).toLowerCase() + kind.slice(1), group: group ?? `${name}.example.com` };
}

/** Writes the files by path. Those of the statements' tests only where a repository has these tests. */
export function newFiles(
  names: NewNames,
  { withMutants }: { readonly withMutants: boolean },
): ReadonlyMap<string, string> {
  const { name } = names;
  return new Map([
    [`src/controllers/${name}.ts`, fill(controller, names)],
    [`functions/${name}.ts`, fill(lambda, names)],
    [`test/controllers/${name}.test.ts`, fill(test, names)],
    [`infra/kubernetes/samples/${name}.yaml`, fill(sample, names)],
    ...(withMutants ? [[`test/mutants/${name}.ts`, fill(mutants, names)] as const] : []),
  ]);
}

/** The two lines of the mutants' catalogue: an import, and who is to catch them. */
export function catalogueLines(names: NewNames): { readonly imported: string; readonly entry: string } {
  return {
    imported: fill("import { NEW_VARIABLEMutants } from './NEW_NAME.ts';", names),
    entry: fill(
      "  'NEW_NAME': { generic: controllers('NEW_NAME'), own: [{ mutants: NEW_VARIABLEMutants, suites: controllers('NEW_NAME') }] },",
      names,
    ),
  };
}

/** The row of the statements on what a status has observed: two specs, and how to tell which of them was acted on. */
export function generationRow(names: NewNames): { readonly imported: string; readonly entry: string } {
  return {
    imported: fill("import { NEW_VARIABLE } from '../../src/controllers/NEW_NAME.ts';", names),
    entry: fill(row, names),
  };
}

function fill(template: string, { kind, name, variable, group }: NewNames): string {
  return template
    .replaceAll('NEW_KIND', kind)
    .replaceAll('NEW_RESOURCE', kind.toLowerCase())
    .replaceAll('NEW_NAME', name)
    .replaceAll('NEW_VARIABLE', variable)
    .replaceAll('NEW_GROUP', group);
}

const controller = `// NEW_KIND: has one ConfigMap that says what its spec says. A beginning: keep what you need, and throw the rest away.
//
// A user writes spec. This controller alone writes status, and owns the ConfigMap of the same name.
import type { V1ConfigMap } from '@kubernetes/client-node';
import * as z from 'zod';
import { defineController, defineResource, existingKind } from '../outrigger.ts';

/** The kind: what a user may write, and what the controller says. */
export const NEW_VARIABLEKind = defineResource({
  group: 'NEW_GROUP',
  version: 'v1',
  kind: 'NEW_KIND',
  spec: z.object({ text: z.string().min(1).max(1000).describe('What the ConfigMap says.') }),
  status: z.object({ characters: z.number().int().describe('How many there are in the text that was written last.') }),
  conditions: ['Written'],
  columns: { Characters: '.status.characters' },
});

/** A kind of Kubernetes' own. */
export const configMapKind = existingKind<V1ConfigMap>({ group: '', version: 'v1', kind: 'ConfigMap' });

/** The controller. */
export const NEW_VARIABLE = defineController(NEW_VARIABLEKind)({
  name: 'NEW_NAME',
  owns: [configMapKind],

  // Called for every change of the object or its children, and once in a while: look at what is, make it what spec says, tell.
  async reconcile({ metadata: { name }, spec: { text } }, { children }) {
    await children(configMapKind, [{ metadata: { name }, data: { text } }]);
    return {
      status: { characters: text.length },
      conditions: { Written: { status: 'True', reason: 'Written' } },
    };
  },
});
`;

const lambda = `import { NEW_VARIABLE } from '../src/controllers/NEW_NAME.ts';
import { createReconcileHandler } from '../src/lambda/reconcile-handler.ts';

export const handler = createReconcileHandler(NEW_VARIABLE);
`;

const test = `// Only what NEW_KIND decides, called by hand: objects in memory, no server.
import { expect, it } from 'vitest';
import { configMapKind, NEW_VARIABLE, NEW_VARIABLEKind } from '../../src/controllers/NEW_NAME.ts';
import { testContext } from '../../src/testing.ts';

it('its ConfigMap says what its spec says, and its status how long that is', async () => {
  const object = NEW_VARIABLEKind.object('one', { text: 'hello' });
  const context = testContext(NEW_VARIABLE, { clients: {}, owner: object });
  const { status, conditions } = await NEW_VARIABLE.reconcile(object, context);
  expect(status).toEqual({ characters: 5 });
  expect(conditions.Written).toEqual({ status: 'True', reason: 'Written' });
  expect((await context.get(configMapKind, { name: 'one' }))?.data).toEqual({ text: 'hello' });
});

it('a text that is empty is refused', () => {
  expect(() => NEW_VARIABLEKind.object('one', { text: '' })).toThrow('spec.text');
});
`;

const sample = `# NEW_KIND, made by outrigger new controller. To watch:
#   kubectl get NEW_RESOURCE,configmaps -w
apiVersion: NEW_GROUP/v1
kind: NEW_KIND
metadata:
  name: my-NEW_NAME
  namespace: default
spec:
  text: hello
`;

const mutants = `// What somebody might well get wrong in NEW_KIND; npm run mutate -- NEW_NAME shows that the tests notice.
import { type Mutant, swap } from './mutant.ts';

const file = 'src/controllers/NEW_NAME.ts';

export const NEW_VARIABLEMutants: readonly Mutant[] = [
  swap('writes something else', file, 'data: { text } }', "data: { text: 'text' } }"),
  swap('does not say how long the text is', file, 'characters: text.length', 'characters: 0'),
  swap('accepts an empty text', file, 'z.string().min(1)', 'z.string()'),
];
`;

const row = `  {
    controller: NEW_VARIABLE,
    specs: () => [{ text: 'a' }, { text: 'ab' }],
    acted: (_, object) => object,
    is: [{ status: { characters: 1 } }, { status: { characters: 2 } }],
  },`;

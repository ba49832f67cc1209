// What somebody might well get wrong in Dinner: which children there are, which of them count, and what the worst of them says.
import type { Mutant } from './mutant.ts';

const file = 'src/controllers/dinner.ts';
const aggregation = 'src/core/aggregate.ts';

export const dinnerMutants: readonly Mutant[] = [
  {
    name: 'forgets the last line of its list',
    edits: [
      {
        file,
        find: 'spec.ingredients.map((',
        replace: 'spec.ingredients.slice(0, Math.max(1, spec.ingredients.length - 1)).map((',
      },
    ],
  },
  {
    name: 'names its children after the lines alone, so that two dinners meet',
    edits: [{ file, find: '`${metadata.name}-${name}`', replace: 'name' }],
  },
  {
    name: 'counts children that are not known to be ready',
    edits: [{ file, find: "(one) => one.status === 'True'", replace: "(one) => one.status !== 'False'" }],
  },
  {
    name: 'gives up the whole set for one name that is taken',
    edits: [
      {
        file: aggregation,
        find: 'const live = error.live?.map((raw) => kind.read(raw));',
        replace: 'const live = undefined;',
      },
    ],
  },
  {
    name: 'hides that a child was refused',
    edits: [{ file, find: 'if (problem !== undefined) {', replace: 'if (false) {' }],
  },
  {
    name: 'does not try again when a child was refused',
    edits: [{ file, find: ', retry: problem.error };', replace: ' };' }],
  },
  {
    name: 'asks the children for an older amount: leaves their specs as they were made',
    edits: [
      {
        file,
        find: 'children(ingredientKind, desired)',
        replace:
          'children(ingredientKind, (existing) => desired.map((one) => existing.find(({ metadata: { name } }) => name === one.metadata.name) === undefined ? one : { metadata: one.metadata, spec: existing.find(({ metadata: { name } }) => name === one.metadata.name).spec }))',
      },
    ],
  },
  {
    name: 'believes what a child said of an older generation',
    edits: [
      {
        file: aggregation,
        find: '(observedGeneration ?? ready.observedGeneration) !== metadata.generation',
        replace: 'false',
      },
    ],
  },
  {
    name: 'takes a child that has said nothing for one that is ready',
    edits: [
      {
        file: aggregation,
        find: "return { status: 'Unknown', reason: 'NotReported', message: named('nothing reported yet') };",
        replace: "return { status: 'True', reason: 'NotReported', message: '' };",
      },
    ],
  },
  {
    name: 'lets an Unknown beat a False',
    edits: [{ file: aggregation, find: "parts.find(({ status }) => status === 'False') ?? ", replace: '' }],
  },
  {
    name: 'takes an Unknown for good as long as nothing is False',
    edits: [{ file: aggregation, find: " ?? parts.find(({ status }) => status !== 'True')", replace: '' }],
  },
  {
    name: 'is ready when it has no child at all',
    edits: [
      {
        file: aggregation,
        find: "if (parts.length === 0) return { status: 'Unknown', reason: 'NoChildren' };",
        replace: '',
      },
    ],
  },
  {
    name: 'gives its own reason in place of the reason of the child',
    edits: [
      {
        file: aggregation,
        find: 'return { status: ready.status, reason: ready.reason,',
        replace: "return { status: ready.status, reason: 'ChildNotReady',",
      },
    ],
  },
  {
    name: 'says of a new status that the old one changed when it did',
    edits: [
      {
        file: 'src/core/conditions.ts',
        find: 'before?.status === condition.status ? before.lastTransitionTime : undefined',
        replace: 'undefined',
      },
    ],
  },
  {
    name: 'accepts a list without ingredients',
    edits: [{ file, find: '.min(1)\n      .max(50)', replace: '.max(50)' }],
  },
  {
    name: 'accepts one name twice',
    edits: [
      {
        file,
        find: "'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name']",
        replace: "'x-kubernetes-list-type': 'atomic'",
      },
    ],
  },
];

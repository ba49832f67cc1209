// Likely errors in Dinner: its children, which of them count, and which of their conditions it reports.
import { type Mutant, swap } from './mutant.ts';

const file = 'src/controllers/dinner.ts';
const aggregation = 'src/api/readiness.ts';

export const dinnerMutants: readonly Mutant[] = [
  swap(
    'deletes none of the children that it no longer wants',
    'src/kube/apply/apply-all.ts',
    'if (request.prune && ',
    'if (false && ',
  ),
  swap(
    'forgets the last line of its list',
    file,
    'spec.ingredients.map((',
    'spec.ingredients.slice(0, Math.max(1, spec.ingredients.length - 1)).map((',
  ),
  swap(
    'names its children after the lines alone, so that two dinners meet',
    file,
    '`${metadata.name}-${name}`',
    'name',
  ),
  swap(
    'counts children that are not known to be ready',
    file,
    "(one) => one.status === 'True'",
    "(one) => one.status !== 'False'",
  ),
  swap('hides that a child was refused', file, 'failure?.condition ?? summarize(readiness)', 'summarize(readiness)'),
  swap('does not try again when a child was refused', file, '      error: failure?.error,', ''),
  swap(
    'asks the children for an older amount: leaves their specs as they were made',
    file,
    'tryApplyAll(Ingredient, desired)',
    'tryApplyAll(Ingredient, (existing) => desired.map((one) => existing.find(({ metadata: { name } }) => name === one.metadata.name) === undefined ? one : { metadata: one.metadata, spec: existing.find(({ metadata: { name } }) => name === one.metadata.name).spec }))',
  ),
];

/** In what its children come to. */
export const aggregationMutants: readonly Mutant[] = [
  swap(
    'gives up the whole set for one name that is taken',
    'src/api/context.ts',
    'const objects = (error.objects ?? []).map((raw) => readAs(kind, raw));',
    'const objects: ObjectOf<K>[] = [];',
  ),
  swap(
    'uses the status of a child of an older generation',
    aggregation,
    '(observedGeneration ?? ready.observedGeneration) !== metadata?.generation',
    'false',
  ),
  swap(
    'takes a child that has said nothing for one that is ready',
    aggregation,
    "return unknown('NotReported', named('nothing reported yet'));",
    "return ok('NotReported');",
  ),
  swap('lets an Unknown beat a False', aggregation, "conditions.find(({ status }) => status === 'False') ?? ", ''),
  swap(
    'takes an Unknown for good as long as nothing is False',
    aggregation,
    " ?? conditions.find(({ status }) => status !== 'True')",
    '',
  ),
  swap(
    'is ready when it has no child at all',
    aggregation,
    "if (conditions.length === 0) return unknown('NoChildren');",
    '',
  ),
  swap(
    'gives its own reason in place of the reason of the child',
    aggregation,
    'return { status: ready.status, reason: ready.reason,',
    "return { status: ready.status, reason: 'ChildNotReady',",
  ),
  swap(
    'says of a new status that the old one changed when it did',
    'src/api/conditions.ts',
    'before?.status === condition.status ? before.lastTransitionTime : undefined',
    'undefined',
  ),
];

/** In its definition. */
export const dinnerDefinitionMutants: readonly Mutant[] = [
  swap('accepts a list without ingredients', file, '.min(1)\n      .max(50)', '.max(50)'),
  swap(
    'accepts one name twice',
    file,
    "'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name']",
    "'x-kubernetes-list-type': 'atomic'",
  ),
];

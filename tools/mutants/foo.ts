// Likely errors in Foo: which fields of a built-in kind it owns, when that kind's status is current, and when to record an Event.
import { type Mutant, swap } from './mutant.ts';

const file = 'src/controllers/foo.ts';
const availability = 'src/api/readiness.ts';

export const fooMutants: readonly Mutant[] = [
  swap(
    'holds the replicas at one where they are left out',
    file,
    '...(replicas === undefined ? {} : { replicas }),',
    'replicas: replicas ?? 1,',
  ),
  swap(
    'says the replicas at creation alone, and lets them drift',
    file,
    '...(replicas === undefined ? {} : { replicas }),',
    '...(replicas === undefined || status !== undefined ? {} : { replicas }),',
  ),
  swap(
    'names the Deployment after itself, not as the spec says',
    file,
    'metadata: { name },',
    'metadata: { name: metadata.name },',
  ),
  swap('leaves the Deployment of its former name', file, '      },\n    ]);', '      },\n    ], { prune: false });'),
  swap(
    'labels all its pods alike, whichever Foo they are of',
    file,
    "{ app: 'nginx', controller: metadata.name }",
    "{ app: 'nginx' }",
  ),
  swap(
    'says Synced at every reconcile',
    file,
    'if (before === undefined || refusals.includes(before)) recordEvent(',
    'recordEvent(',
  ),
  swap(
    'never says Synced again once it has',
    file,
    'said?.observedGeneration === metadata.generation ? said.reason : undefined',
    'said?.reason',
  ),
  swap('warns at every retry that the name is taken', file, " && before !== 'NotOwned') {", ') {'),
  swap(
    'does not warn that the name is taken',
    file,
    "condition.reason === 'NotOwned' && before !== 'NotOwned'",
    'false',
  ),
  swap(
    'forgets the available replicas while the name is taken',
    file,
    'return { status: status ?? {}, conditions: { DeploymentAvailable: condition }',
    'return { status: {}, conditions: { DeploymentAvailable: condition }',
  ),
  swap('does not try again when the Deployment was refused', file, ', error };', ' };'),
  swap(
    'uses the available replicas of an older generation',
    file,
    'isCurrent(deployment) ? { availableReplicas }',
    'true ? { availableReplicas }',
  ),
  swap(
    'uses the Deployment status of an older generation',
    availability,
    'status.observedGeneration >= (metadata?.generation ?? 0)',
    'true',
  ),
  swap(
    'counts the wanted replicas as available',
    file,
    'const { availableReplicas = 0 } = deployment?.status ?? {};',
    'const availableReplicas = replicas ?? 1;',
  ),
];

/** In its definition. */
export const fooDefinitionMutants: readonly Mutant[] = [
  swap('accepts no replicas at all', file, 'z.number().int().min(1).max(10)', 'z.number().int().min(0).max(10)'),
  swap('accepts an eleventh replica', file, 'z.number().int().min(1).max(10)', 'z.number().int().min(1).max(11)'),
];

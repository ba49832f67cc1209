// What somebody might well get wrong in Foo: which fields of a built-in kind are its own, when its status may be believed, when to
// speak.
import type { Mutant } from './mutant.ts';

const file = 'src/controllers/foo.ts';
const availability = 'src/core/availability.ts';

export const fooMutants: readonly Mutant[] = [
  {
    name: 'holds the replicas at one where they are left out',
    edits: [{ file, find: '...(replicas === undefined ? {} : { replicas }),', replace: 'replicas: replicas ?? 1,' }],
  },
  {
    name: 'says the replicas at creation alone, and lets them drift',
    edits: [
      {
        file,
        find: '...(replicas === undefined ? {} : { replicas }),',
        replace: '...(replicas === undefined || status !== undefined ? {} : { replicas }),',
      },
    ],
  },
  {
    name: 'names the Deployment after itself, not as it is told',
    edits: [{ file, find: 'metadata: { name },', replace: 'metadata: { name: metadata.name },' }],
  },
  {
    name: 'leaves the Deployment of its former name',
    edits: [{ file, find: '      ]),\n    );', replace: '      ], { prune: false }),\n    );' }],
  },
  {
    name: 'labels all its pods alike, whichever Foo they are of',
    edits: [{ file, find: "{ app: 'nginx', controller: metadata.name }", replace: "{ app: 'nginx' }" }],
  },
  {
    name: 'says Synced at every reconcile',
    edits: [{ file, find: 'if (before === undefined || refusals.includes(before)) record(', replace: 'record(' }],
  },
  {
    name: 'never says Synced again once it has',
    edits: [
      {
        file,
        find: 'said?.observedGeneration === metadata.generation ? said.reason : undefined',
        replace: 'said?.reason',
      },
    ],
  },
  {
    name: 'warns at every retry that the name is taken',
    edits: [{ file, find: " && before !== 'NotOwned') {", replace: ') {' }],
  },
  {
    name: 'does not warn that the name is taken',
    edits: [{ file, find: "condition.reason === 'NotOwned' && before !== 'NotOwned'", replace: 'false' }],
  },
  {
    name: 'forgets the available replicas while the name is taken',
    edits: [
      {
        file,
        find: 'return { status: status ?? {}, conditions: { DeploymentAvailable: condition }',
        replace: 'return { status: {}, conditions: { DeploymentAvailable: condition }',
      },
    ],
  },
  {
    name: 'does not try again when the Deployment was refused',
    edits: [{ file, find: ', retry: error };', replace: ' };' }],
  },
  {
    name: 'believes the available replicas of an older generation',
    edits: [{ file, find: 'isCurrent(deployment) ? { availableReplicas }', replace: 'true ? { availableReplicas }' }],
  },
  {
    name: 'believes what the Deployment said of an older generation',
    edits: [{ file: availability, find: 'status.observedGeneration >= (metadata?.generation ?? 0)', replace: 'true' }],
  },
  {
    name: 'counts the wanted replicas as available',
    edits: [
      {
        file,
        find: 'const { availableReplicas = 0 } = deployment?.status ?? {};',
        replace: 'const availableReplicas = replicas ?? 1;',
      },
    ],
  },
  {
    name: 'accepts no replicas at all',
    edits: [{ file, find: 'z.number().int().min(1).max(10)', replace: 'z.number().int().min(0).max(10)' }],
  },
  {
    name: 'accepts an eleventh replica',
    edits: [{ file, find: 'z.number().int().min(1).max(10)', replace: 'z.number().int().min(1).max(11)' }],
  },
];

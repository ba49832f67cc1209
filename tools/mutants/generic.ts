// The mutants that every controller has: the ways in which any reconciler may go wrong. They are made in the machinery, where
// one line serves all controllers, and only for the controller that is named.
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { firstSpec } from './first-spec.ts';
import type { Edit, Mutant } from './mutant.ts';

const visit = 'src/reconciling/reconcile.ts';
const children = 'src/kube/apply/apply-all.ts';
const controller = 'src/api/controller.ts';

/** Makes a controller's generic mutants. Those of finalizing and of children are for controllers that do. */
export function genericMutants({ name, declaration }: ControllerDefinition): readonly Mutant[] {
  const is = (variable: string) => `${variable} === '${name}'`;
  const isNot = (variable: string) => `${variable} !== '${name}'`;
  const readSpec = 'await spec.reconcile(view.read(raw), typeContext';
  const withSpec = (spec: string): Edit => ({
    file: controller,
    find: readSpec,
    replace: `await spec.reconcile(view.read(${is('name')} ? { ...raw, spec: ${spec} } : raw), typeContext`,
  });
  const run = 'object.metadata.deletionTimestamp === undefined ? await reconcile() : await finalize()';
  const written = 'await write(voice.afterResult(result, basis()));';

  return [
    {
      name: 'does nothing',
      edits: [{ file: visit, find: run, replace: `${is('name')} ? { type: 'done' } : ${run}` }],
    },
    {
      name: 'ignores the spec: works with that of the sample',
      edits: [withSpec(JSON.stringify(firstSpec(declaration.resource)))],
    },
    {
      name: 'ignores changes of the spec: works with the one that it saw first',
      edits: [
        {
          file: controller,
          find: 'const clients = makeClients(name, spec, environment, secrets);',
          replace: 'const clients = makeClients(name, spec, environment, secrets); const firstSpecs = new Map();',
        },
        withSpec('firstSpecs.get(raw.metadata.uid) ?? (firstSpecs.set(raw.metadata.uid, raw.spec), raw.spec)'),
      ],
    },
    {
      name: 'writes its status whether it differs or not',
      edits: [
        {
          file: visit,
          find: 'if (ownedEqual(wanted, ownedStatus(last, fieldManager))) return;',
          replace: `if (${isNot('name')} && ownedEqual(wanted, ownedStatus(last, fieldManager))) return;`,
        },
      ],
    },
    {
      name: 'says that it observed the generation that is there when it writes',
      edits: [
        {
          file: visit,
          find: written,
          replace: `if (${is('name')}) object = (await (await import('../kube/read.ts')).getObject(client, resource, message, { signal })) ?? object; ${written}`,
        },
      ],
    },
    {
      name: 'writes its status over what others have written meanwhile',
      edits: [
        {
          file: visit,
          find: 'key: keyOf(last), resourceVersion, uid };',
          replace: `key: keyOf(last), ...(${is('name')} ? {} : { resourceVersion }), uid };`,
        },
      ],
    },
    {
      name: 'writes a status again that was worked out from what has changed since',
      edits: [
        {
          file: visit,
          find: '!saysTheSame(object, fresh, fieldManager)',
          replace: `(${isNot('name')} && !saysTheSame(object, fresh, fieldManager))`,
        },
      ],
    },
    {
      name: 'goes on while its object is being deleted',
      edits: [{ file: visit, find: run, replace: `${is('name')} || ${run}` }],
    },
    ...(declaration.finalizes ? [finalizesNothing(is('name'))] : []),
    ...(declaration.owns.length > 0 ? childrenMutants(declaration.resource.kind, isNot) : []),
  ];
}

function finalizesNothing(isIt: string): Mutant {
  const finalized = 'await running.finalize(object, openAccess())';
  return {
    name: 'skips finalize: lets go without it',
    edits: [{ file: visit, find: finalized, replace: `${isIt} ? 'done' : ${finalized}` }],
  };
}

function childrenMutants(ownerKind: string, isNot: (variable: string) => string): readonly Mutant[] {
  const foreign = 'if (live !== undefined && !isOwned(owner, live)';
  const same = 'if (live !== undefined && strays.length === 0 && ownedEqual';
  const retry = 'if (result.error !== undefined)';
  return [
    {
      name: 'adopts what is foreign',
      edits: [{ file: children, find: foreign, replace: `${foreign} && ${isNot('controllerName')}` }],
    },
    {
      name: 'knows its children by the name of their owner, not by its uid',
      edits: [
        {
          file: 'src/kube/apply/child-object.ts',
          find: 'return controllerUidOf(live) === uidOf(owner);',
          replace: `const is = live.metadata.ownerReferences?.find((one) => one.controller === true); return owner.kind === '${ownerKind}' ? is?.name === owner.metadata.name : is?.uid === uidOf(owner);`,
        },
      ],
    },
    {
      name: 'writes its children whether they differ or not',
      edits: [{ file: children, find: same, replace: same.replace('(', `(${isNot('controllerName')} && `) }],
    },
    {
      name: 'forgets to come back when a child could not be made',
      edits: [{ file: visit, find: retry, replace: retry.replace('(', `(${isNot('name')} && `) }],
    },
  ];
}

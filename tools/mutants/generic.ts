// The mutants that every controller has: errors that are possible in any reconciler. They are made in the shared code, where
// one line serves all controllers, with a condition on the controller's name.
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { fieldManagerOf } from '../../src/core/names.ts';
import { firstSpec } from './first-spec.ts';
import type { Edit, Mutant } from './mutant.ts';

const reconcile = 'src/reconciling/reconcile.ts';
const pass = 'src/reconciling/pass';
const status = 'src/reconciling/status/write-status.ts';
const children = 'src/kube/apply/apply-child.ts';
const controller = 'src/api/controller.ts';

/** Makes a controller's generic mutants. Those of finalizing and of children are for controllers that do. */
export function genericMutants({ name, declaration }: ControllerDefinition): readonly Mutant[] {
  const is = (variable: string, value: string = name) => `${variable} === '${value}'`;
  const isNot = (variable: string, value: string = name) => `${variable} !== '${value}'`;
  const readSpec = 'await spec.reconcile(view.read(raw), typeContext';
  const withSpec = (spec: string): Edit => ({
    file: controller,
    find: readSpec,
    replace: `await spec.reconcile(view.read(${is('name')} ? { ...raw, spec: ${spec} } : raw), typeContext`,
  });
  const run = "observed.type === 'nothing' ? observed :";
  const written = 'if (verdict.status !== undefined) await writeStatus(';
  const task = 'function taskOf({ declaration }: Identity, read: KubeObject): Task {\n  if (';

  return [
    {
      name: 'does nothing',
      edits: [
        {
          file: reconcile,
          find: run,
          replace: `${is('identity.name')} ? ({ type: 'done' } as const) : ${run}`,
        },
      ],
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
          find: 'const clients = makeClients(name, spec, start);',
          replace: 'const clients = makeClients(name, spec, start); const firstSpecs = new Map();',
        },
        withSpec('firstSpecs.get(raw.metadata.uid) ?? (firstSpecs.set(raw.metadata.uid, raw.spec), raw.spec)'),
      ],
    },
    {
      name: 'writes its status whether it differs or not',
      edits: [
        {
          file: status,
          find: 'ownedEqual(wanted, primary.ownedStatus()',
          replace: `${isNot('fieldManager', fieldManagerOf(name))} && ownedEqual(wanted, primary.ownedStatus()`,
        },
      ],
    },
    {
      name: 'says that it observed the generation that is there when it writes',
      edits: [
        {
          file: `${pass}/commit.ts`,
          find: written,
          replace: `if (${is('pass.identity.name')}) { const { getObject } = await import('../../kube/client/read.ts'); pass.primary.replace((await getObject(pass.client, pass.identity.declaration.resource, pass.message, pass)) ?? pass.primary.current()); } ${written}`,
        },
      ],
    },
    {
      name: 'writes its status over what others have written meanwhile',
      edits: [
        {
          file: status,
          find: 'resourceVersion, uid };',
          replace: `resourceVersion: ${is('fieldManager', fieldManagerOf(name))} ? undefined : resourceVersion, uid };`,
        },
      ],
    },
    {
      name: 'writes a status again although its input has changed',
      edits: [
        {
          file: status,
          find: '!hasSameInputs(primary.current(), fresh, identity)',
          replace: `(${isNot('fieldManager', fieldManagerOf(name))} && !hasSameInputs(primary.current(), fresh, identity))`,
        },
      ],
    },
    {
      name: 'goes on while its object is being deleted',
      edits: [
        {
          file: `${pass}/observe.ts`,
          find: task,
          replace: `${task.replace('declaration', 'declaration, name')}${isNot('name')} && `,
        },
      ],
    },
    ...(declaration.finalizes ? [finalizesNothing(is('identity.name'))] : []),
    ...(declaration.owns.length > 0 ? childrenMutants(declaration.resource.kind, isNot) : []),
  ];
}

function finalizesNothing(isIt: string): Mutant {
  const finalized = 'const said = await instance.finalize(';
  return {
    name: 'removes the finalizer without calling finalize',
    edits: [
      {
        file: `${pass}/author-call.ts`,
        find: finalized,
        replace: finalized.replace('= ', `= ${isIt} ? 'done' : `),
      },
    ],
  };
}

function childrenMutants(ownerKind: string, isNot: (variable: string) => string): readonly Mutant[] {
  const foreign = 'if (live !== undefined && !(await isChild(request, live))';
  const same = 'if (difference === undefined && !ownership.isChanged)';
  const retry = 'if (result.error !== undefined)';
  return [
    {
      name: 'adopts what is foreign',
      edits: [{ file: children, find: foreign, replace: `${foreign} && ${isNot('request.controllerName')}` }],
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
      edits: [
        { file: children, find: same, replace: same.replace('(', `(${isNot('this.#request.controllerName')} && `) },
      ],
    },
    {
      name: 'does not retry when a child was not created',
      edits: [
        {
          file: `${pass}/settle.ts`,
          find: retry,
          replace: retry.replace('(', `(${isNot('facts.message.controller')} && `),
        },
      ],
    },
  ];
}

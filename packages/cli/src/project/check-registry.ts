// Rejects an invalid registry before anything is generated: names that are not valid for queues, functions, roles and
// labels, controllers of one kind that would overwrite each other's status, and an exec declaration that is no limit.
import { runtimeConditions } from 'outrigger/internal/api/conditions';
import {
  type ControllerDeclaration,
  type ControllerDefinition,
  marksHeldObjects,
} from 'outrigger/internal/api/definition';
import { commandRules, type ExecSpec } from 'outrigger/internal/api/exec';
import type { Kind } from 'outrigger/internal/api/kind';
import { namespacesOfKind } from 'outrigger/internal/api/reads';
import { SchemaError } from 'outrigger/internal/core/errors';
import { isBuiltInGroup, isSameKind } from 'outrigger/internal/core/kind-names';
import { labelSelectorProblem } from 'outrigger/internal/core/labels';
import {
  controllerLabelValue,
  heldLabelOf,
  logicalId,
  resyncQueue,
  timersQueue,
  wakeFunction,
} from 'outrigger/internal/core/names';
import { isNamespaceName } from 'outrigger/internal/core/namespaces';
import { fieldSelectorOf } from 'outrigger/internal/core/selector';
import { holdsUpOthers, predicateOf, writersOf } from 'outrigger/internal/generate/changing-kinds';
import { isSelfMapped, watchProblem } from 'outrigger/internal/generate/check-watches';
import { isAlwaysSelectable, maySelect } from 'outrigger/internal/generate/selectable-fields';
import { checkPermissions } from './check-permissions.ts';
import { readProblem } from './check-reads.ts';
import { mayHaveConditions } from './condition-kinds.ts';

/** A queue's name has at most 80 characters, prefix and `-dlq.fifo` included; a label's value 63. */
const validName = /^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$/;
/** The limit of Kubernetes for the value of a label, and for the name in a finalizer. */
const maxLabelCharacters = 63;
const namespacesSetting = 'outrigger.namespaces of package.json';
const domainLabel = '[a-z0-9]([a-z0-9-]*[a-z0-9])?';
const domain = `${domainLabel}(\\.${domainLabel})+/`;
/** The type of a condition, which may have a domain (metav1.Condition: at most 316 characters). */
const conditionType = new RegExp(`^(?=.{1,316}$)(?<domain>${domain})?[A-Za-z]([A-Za-z0-9_.-]*[A-Za-z0-9])?$`);
/** The names of other functions and of the role of the schedule, or folders in dist/. */
const reserved = [
  timersQueue,
  resyncQueue,
  wakeFunction,
  'schedule',
  'watcher',
  'kubernetes',
  'chart',
  'cloudformation',
];

/**
 * Rejects invalid and duplicate names, status slices that overlap or have no first controller, and an exec without
 * limits. Throws SchemaError.
 * @param namespaces the only namespaces of the project; absent: all
 */
export function checkRegistry(
  registry: readonly ControllerDefinition[],
  project?: string,
  namespaces?: readonly string[],
): void {
  for (const [index, { name, declaration }] of registry.entries()) {
    const schemaError = (problem: string) => new SchemaError(`controller ${name}`, problem);
    const invalidName = nameProblem(name);
    if (invalidName !== undefined) throw schemaError(invalidName);
    const label = controllerLabelValue(name, project);
    if (label.length > maxLabelCharacters)
      throw schemaError(`the label value ${label} is longer than ${maxLabelCharacters} characters; use a shorter name`);
    const [, mark = ''] = heldLabelOf(name, project).split('/');
    if (marksHeldObjects(declaration) && mark.length > maxLabelCharacters)
      throw schemaError(
        `the label ${mark} has a name longer than ${maxLabelCharacters} characters; use a shorter name`,
      );
    if (registry.findIndex((other) => other.name === name) !== index) throw schemaError('there are two of that name');
    const alike = registry.slice(0, index).find((other) => logicalId(other.name) === logicalId(name));
    if (alike !== undefined)
      throw schemaError(`${alike.name} has the same ids in the template, ${logicalId(name)}; use another name`);
    const problem = declaration.exec === undefined ? undefined : execProblem(declaration.exec);
    if (problem !== undefined) throw new SchemaError(`controller ${name}.exec`, problem);
    checkPermissions({ name, declaration });
    const mistaken =
      watchProblem(declaration) ??
      readProblem(declaration) ??
      takenFromRuntime(declaration) ??
      selectorProblem(declaration, namespaces) ??
      undecidedIn(declaration) ??
      unseenField(declaration, registry);
    if (mistaken !== undefined) throw schemaError(mistaken);
  }
  checkStatusSlices(registry);
  if (namespaces !== undefined) for (const controller of registry) checkScope(controller);
}

/**
 * The children of an object without a namespace are listed in all namespaces, which no Role permits. A kind that is
 * read in named namespaces has a Role in each.
 */
function checkScope({ name, declaration: { resource, owns, reads } }: ControllerDefinition): void {
  const everywhere = [...owns, ...reads].flatMap((one) => ('of' in one ? [] : [one]));
  const inNamespaces = everywhere.find(({ namespaced }) => namespaced);
  const anywhere = owns.find(({ inAnyNamespace }) => inAnyNamespace);
  const listed = resource.namespaced ? anywhere : inNamespaces;
  if (listed === undefined) return;
  const why = resource.namespaced ? `children are in any namespace` : `${resource.kind} has no namespace`;
  throw new SchemaError(
    `controller ${name}`,
    `${why}, so its ${listed.plural} are listed in all namespaces; ${namespacesSetting} permits only some`,
  );
}

/** Returns the problem of a name for a controller; undefined for a valid one. */
export function nameProblem(name: string): string | undefined {
  if (!validName.test(name)) return 'a name has at most 40 lower-case letters, digits and -, and begins with a letter';
  if (name.endsWith('-dlq')) return 'the end -dlq is that of dead-letter queues';
  return reserved.includes(name) ? 'that name is reserved' : undefined;
}

/** Returns the part of a kind's status that it declares, and the runtime writes. */
function takenFromRuntime({ resource: { kind, definition } }: ControllerDeclaration): string | undefined {
  const condition = runtimeConditions.find((one) => definition?.conditions.includes(one));
  if (condition !== undefined) return `conditions of ${kind}: ${condition} is the runtime's; leave it out`;
  const field = ['conditions', 'observedGeneration'].find((one) => definition?.status.shape[one] !== undefined);
  return field === undefined ? undefined : `status.${field} of ${kind} is the runtime's; leave it out`;
}

/** Returns what the controller of a built-in kind has to decide, and does not. */
function undecidedIn(declaration: ControllerDeclaration): string | undefined {
  const { resource, changes, finalizes, blocksDeletion, evidence, selector, sets, owns } = declaration;
  const { plural } = resource;
  const outside = owns.find(({ namespaced }) => !namespaced);
  if (resource.namespaced && outside !== undefined) {
    const remedy = resource.definition === undefined ? '' : "; declare it with scope: 'Cluster'";
    return `${resource.kind} has a namespace, so it cannot own ${outside.plural}, which have none${remedy}`;
  }
  const far = owns.find(({ inAnyNamespace }) => inAnyNamespace);
  if (far !== undefined && !finalizes)
    return `inAnyNamespace(${far.kind}) in owns needs a finalizer, which waits for these children: add finalize`;
  if (sets !== undefined && owns.some((kind) => isSameKind(kind, resource)))
    return `sets and owns of ${plural}: both writes of a child have one field manager and undo each other; drop sets`;
  const writers = writersOf(resource);
  if (writers !== undefined && changes === undefined)
    return (
      `${plural} change often: ${writers}. Declare changes: 'metadata' (labels, annotations, finalizers, deletion, ` +
      "and the spec of a kind with a generation), or changes: 'any' (one reconcile for each write)"
    );
  if (finalizes && holdsUpOthers(resource) && blocksDeletion !== true)
    return (
      `finalize keeps ${plural} until it is done, so functions that are down hold up drains and scaling. ` +
      "Declare finalizer: 'blocks-deletion' to accept that"
    );
  const unselectable =
    resource.definition === undefined
      ? Object.keys(selector?.fields ?? {}).find((field) => !maySelect(resource, field))
      : undefined;
  if (unselectable !== undefined)
    return `selector.fields: the API server does not select ${plural} by ${unselectable}; select by labels`;
  if (evidence !== undefined && resource.definition !== undefined)
    return `the status of ${resource.kind} shows what was observed; leave evidence out`;
  if (evidence !== undefined && (writers !== undefined || isSecretKind(resource)))
    return `${plural} have no evidence: ${writers === undefined ? 'a digest reveals them' : 'they change often'}`;
  return undefined;
}

/**
 * Returns the problem of a selector with a field that neither the API server nor the watcher compares: the watch of the
 * kind is not selected because of another subscriber, and a change of the field is no change of the spec or metadata.
 */
function unseenField(
  declaration: ControllerDeclaration,
  registry: readonly ControllerDefinition[],
): string | undefined {
  const { resource, selector } = declaration;
  const isSeen = (field: string) =>
    isAlwaysSelectable(field) || (!field.startsWith('status.') && !isBuiltInGroup(resource.group));
  const field = Object.keys(selector?.fields ?? {}).find((one) => !isSeen(one));
  if (field === undefined || predicateOf(declaration) === 'resourceVersion') return undefined;
  const other = registry.find(({ declaration: one }) => {
    const isOfOthers =
      isSameKind(one.resource, resource) && fieldSelectorOf(one.selector) !== fieldSelectorOf(selector);
    const watched = one.watches.filter((watch) => !isSelfMapped(one, watch)).map(({ kind }) => kind);
    return isOfOthers || [...one.owns, ...watched].some((kind) => isSameKind(kind, resource));
  });
  if (other === undefined) return undefined;
  return (
    `selector.fields: ${other.name} is sent other ${resource.plural}, so their watch is not selected, and changes of ` +
    `${field} are not seen; declare changes: 'any'`
  );
}

/**
 * Returns the first field of the selectors that matches nothing, or that the API server refuses.
 * @param all the only namespaces of the project; absent: all
 */
function selectorProblem(
  { resource, selector, reads, watches }: ControllerDeclaration,
  all: readonly string[] | undefined,
): string | undefined {
  const selectors = [
    ['selector', resource, selector] as const,
    ...watches.map((watch, index) => [`watches[${index}].selector`, watch.kind, watch.selector] as const),
  ];
  for (const [field, kind, given] of selectors) {
    const wrong = labelSelectorProblem(given ?? {});
    if (wrong !== undefined) return `${field}.${wrong}`;
    if (given?.annotations?.length === 0)
      return `${field}.annotations is empty, so it selects nothing by them; leave it out`;
    const problem = given?.namespaces === undefined ? undefined : namespacesProblem(kind, given.namespaces);
    if (problem !== undefined) return `${field}.namespaces${problem}`;
    // A kind that is read in named namespaces is watched in these.
    const watched = kind.namespaced && namespacesOfKind(reads, kind) === undefined ? all : undefined;
    const outside = given?.namespaces?.find((one) => watched?.includes(one) === false);
    if (outside !== undefined)
      return `${field}.namespaces: ${outside} is not in ${namespacesSetting}, so nothing is sent from there; drop it`;
  }
  const ambiguous = Object.entries(selector?.fields ?? {}).find(([, value]) => /[,=\\]/.test(value));
  if (ambiguous !== undefined)
    return `selector.fields: ${ambiguous.join('=')}: a value without comma, = and \\ is needed`;
  return undefined;
}

function namespacesProblem({ kind, namespaced }: Kind, namespaces: readonly string[]): string | undefined {
  if (!namespaced && kind !== 'Namespace') return `: ${kind} has no namespace; select by matchLabels`;
  if (namespaces.length === 0) return ' is empty, so it selects nothing; leave it out for all';
  const invalid = namespaces.find((one) => !isNamespaceName(one));
  return invalid === undefined ? undefined : `: ${JSON.stringify(invalid)} is not a name of a namespace`;
}

function isSecretKind({ group, kind }: Kind): boolean {
  return group === '' && kind === 'Secret';
}

/** Returns the problem of an exec declaration: no limit, or not expressible in a policy. */
function execProblem(declaration: ExecSpec): string | undefined {
  const commands = commandRules(declaration).map(({ argv }) => argv);
  if (declaration.container === '')
    return 'container is the suffix of a container’s name; an empty one matches every name';
  if (commands.length === 0) return 'commands is empty';
  if (commands.some(([program = '']) => program === '')) return 'a command begins with a program’s name';
  const texts = [declaration.container, ...commands.flat()];
  if (!texts.every((text) => text.isWellFormed())) return 'a string is not valid Unicode';
  return undefined;
}

/**
 * Rejects a registry in which a part of a status has two writers, or a kind has no first controller. Throws
 * SchemaError.
 */
function checkStatusSlices(registry: readonly ControllerDefinition[]): void {
  for (const [index, controller] of registry.entries()) {
    const { name, declaration } = controller;
    // Any number of controllers may reconcile a foreign kind: none of them writes more than its conditions.
    if (declaration.resource.definition === undefined) {
      checkForeignSlice(controller, registry);
      continue;
    }
    const schemaError = (problem: string) => new SchemaError(`controller ${name}`, problem);
    const others = registry.filter((other) => other !== controller && isOfKind(controller, other));
    if (others.some((other) => other.declaration.resource !== declaration.resource))
      throw schemaError(`there are two definitions of its kind, ${declaration.resource.kind}`);
    const before = registry.slice(0, index).filter((other) => isOfKind(controller, other));
    const first = before.find((other) => other.declaration.statusSlice === undefined);
    if (declaration.statusSlice !== undefined) checkSlice(controller, others);
    else if (first !== undefined)
      throw schemaError(
        `${declaration.resource.kind} has a first controller, ${first.name}; a second one declares its status slice`,
      );
  }
}

/**
 * A condition of a built-in kind without a domain, and its other fields, are those of Kubernetes' controllers. A kind
 * without conditions has no place for one.
 */
function checkForeignSlice(controller: ControllerDefinition, registry: readonly ControllerDefinition[]): void {
  const { name, declaration } = controller;
  const { resource, statusSlice } = declaration;
  if (statusSlice === undefined) return;
  const schemaError = (problem: string) => new SchemaError(`controller ${name}`, problem);
  if (!mayHaveConditions(resource))
    throw schemaError(`${resource.kind} has no conditions in its status; report in Events or in annotations (sets)`);
  const others = registry.filter((other) => other !== controller && isOfKind(controller, other));
  const isBuiltIn = isBuiltInGroup(resource.group);
  for (const field of statusSlice.status) {
    if (isBuiltIn) throw schemaError(`status.${field} of ${resource.kind} is Kubernetes' own; write conditions`);
    const other = others.find((one) => one.declaration.statusSlice?.status.includes(field));
    if (other !== undefined) throw schemaError(`status.${field} is ${other.name}'s already`);
  }
  for (const condition of statusSlice.conditions) {
    const type = conditionType.exec(condition);
    if (type === null) throw schemaError(`${condition} is not a type of a condition`);
    if (isBuiltIn && type.groups?.domain === undefined)
      throw schemaError(`condition ${condition} has no domain; use a name such as tenant.example.com/Ready`);
    const other = others.find((one) => one.declaration.statusSlice?.conditions.includes(condition));
    if (other !== undefined) throw schemaError(`condition ${condition} is ${other.name}'s already`);
  }
}

function checkSlice(
  { name, declaration: { resource, statusSlice } }: ControllerDefinition,
  others: readonly ControllerDefinition[],
): void {
  const schemaError = (problem: string) => new SchemaError(`controller ${name}`, problem);
  const { definition } = resource;
  if (statusSlice === undefined || definition === undefined) return;
  if (!others.some((other) => other.declaration.statusSlice === undefined))
    throw schemaError(`${resource.kind} has no first controller, which writes Ready`);
  if (statusSlice.conditions.length === 0) throw schemaError('a status slice needs a condition, for errors');
  const { shape } = definition.status;
  for (const field of statusSlice.status) {
    if (shape[field]?._zod.optout !== 'optional')
      throw schemaError(`status.${field} is not an optional field of ${resource.kind}'s status`);
    const other = others.find((one) => one.declaration.statusSlice?.status.includes(field));
    if (other !== undefined) throw schemaError(`status.${field} is ${other.name}'s already`);
  }
  for (const condition of statusSlice.conditions) {
    if (runtimeConditions.some((one) => one === condition))
      throw schemaError(`condition ${condition} is the runtime's`);
    if (definition.conditions.includes(condition))
      throw schemaError(`condition ${condition} is the first controller's`);
    const other = others.find((one) => one.declaration.statusSlice?.conditions.includes(condition));
    if (other !== undefined) throw schemaError(`condition ${condition} is ${other.name}'s already`);
  }
}

function isOfKind({ declaration }: ControllerDefinition, other: ControllerDefinition): boolean {
  return isSameKind(declaration.resource, other.declaration.resource);
}

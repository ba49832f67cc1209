// Names that several parts of the system share: label and annotation keys, names derived from a controller's name,
// queues and the objects of the watcher. Every name in a cluster has the project's name, so that two projects share a
// cluster. The stage is in none of them: a cluster moves from one stage to another without a change. The default
// project keeps the short names, because the finalizers of existing objects cannot be renamed.

/** The project whose name is left out of the names in a cluster. */
export const defaultProject = 'outrigger';

const domain = 'outrigger.dev';

/** On every child. A change of the child triggers this controller even after another owner has adopted the child. */
export const controllerLabel = `${domain}/controller`;
export const ownerUidLabel = `${domain}/owner-uid`;
/** On every child: the owner's `namespace/name`, or `name` for a cluster-scoped owner. */
export const ownerAnnotation = `${domain}/owner`;
/** Each new value triggers a reconcile. */
export const reconcileRequestedAnnotation = `${domain}/reconcile-requested-at`;
/** The beginning of annotations in which controllers note what they have observed. */
export const observedAnnotationPrefix = `observed.${domain}/`;
/** While it is `true`, the object is not reconciled. */
export const pausedAnnotation = `${domain}/paused`;

/** Returns the value of the controller label on a controller's children: `water-tank`, or `<project>.water-tank`. */
export function controllerLabelValue(controller: string, project = defaultProject): string {
  return project === defaultProject ? controller : `${project}.${controller}`;
}

/**
 * Returns a controller's finalizer, which is also the reporter of its Events. Each controller has its own, so each one
 * finalizes independently of the others.
 */
export function finalizerOf(controller: string, project = defaultProject): string {
  return `${domain}/${controllerLabelValue(controller, project)}`;
}

/**
 * Returns the label with which a controller with a selector marks the objects that it holds, so that it finds those
 * that have left the selection.
 */
export function heldLabelOf(controller: string, project = defaultProject): string {
  return `${domain}/managed-by-${controllerLabelValue(controller, project)}`;
}

/** Returns the annotation in which a controller notes what it has observed of an object that has no status of ours. */
export function observedAnnotationOf(controller: string, project = defaultProject): string {
  return `${observedAnnotationPrefix}${controllerLabelValue(controller, project)}`;
}

/** Returns the controller of a finalizer, or undefined if the finalizer is not one of the project's. */
export function controllerOfFinalizer(finalizer: string, project = defaultProject): string | undefined {
  const prefix = finalizerOf('', project);
  const name = finalizer.startsWith(prefix) ? finalizer.slice(prefix.length) : '';
  // One with a dot is another project's finalizer. An API server may return any text, and commands print the name.
  return /^[a-z0-9-]+$/.test(name) ? name : undefined;
}

/** Returns the User-Agent of a controller's function. */
export function functionUserAgent(controller: string, project = defaultProject): string {
  return `outrigger/${controllerLabelValue(controller, project)}`;
}

/**
 * Returns the user that an API server without credentials sees by the headers: a controller's function by its
 * User-Agent; undefined for another client, which is the administrator.
 */
export function functionUser({ 'user-agent': userAgent = '' }: { readonly 'user-agent'?: string | undefined }) {
  const [, project, controller] = /^outrigger\/(?:([-a-z0-9]+)\.)?([-a-z0-9]+)$/.exec(userAgent) ?? [];
  return controller === undefined ? undefined : { username: controllerIdentity(controller, project), groups: [] };
}

/** The beginning of the names in a cluster, and of the field managers. */
function prefixOf(project: string): string {
  return project === defaultProject ? 'outrigger' : `outrigger-${project}`;
}

/** Returns the field manager with which a controller applies. */
export function fieldManagerOf(controller: string, project = defaultProject): string {
  return `${prefixOf(project)}-${controller}`;
}

/** Returns the controller of a field manager, or undefined if the manager is not one of the project's. */
export function controllerOfManager(manager: string, project = defaultProject): string | undefined {
  const prefix = fieldManagerOf('', project);
  return manager.startsWith(prefix) ? manager.slice(prefix.length) : undefined;
}

/** Returns whether a field manager is a controller's, of any project. */
export function isControllerManager(manager: string): boolean {
  return manager.startsWith(fieldManagerOf(''));
}

/**
 * Returns a controller's FIFO queue, without the deployment's prefix. Each controller has one, and one dead-letter
 * queue.
 */
export function controllerQueue(controller: string): string {
  return `${controller}.fifo`;
}

/** Returns a controller's dead-letter queue, without the deployment's prefix. */
export function controllerDeadLetterQueue(controller: string): string {
  return `${controller}-dlq.fifo`;
}

/** The queues that all controllers share, without the deployment's prefix. */
export const timersQueue = 'timers';
export const timersDeadLetterQueue = 'timers-dlq';
export const resyncQueue = 'resync';
export const resyncDeadLetterQueue = 'resync-dlq';

/** A queue with its dead-letter queue, and the name of the function that receives its messages. */
export type QueuePair = { readonly name: string; readonly queue: string; readonly deadLetterQueue: string };

/** The queues that belong to no controller. */
export const sharedQueues: readonly QueuePair[] = [
  { name: timersQueue, queue: timersQueue, deadLetterQueue: timersDeadLetterQueue },
  { name: resyncQueue, queue: resyncQueue, deadLetterQueue: resyncDeadLetterQueue },
];

/** Lists every queue of a deployment: those of its controllers, and then the shared ones. */
export function queuesOf(controllers: readonly { readonly name: string }[]): readonly QueuePair[] {
  const own = controllers.map(({ name }) => ({
    name,
    queue: controllerQueue(name),
    deadLetterQueue: controllerDeadLetterQueue(name),
  }));
  return [...own, ...sharedQueues];
}

/** The function of events outside of the clusters. It has no queue. */
export const wakeFunction = 'wake';

/**
 * Returns the prefix of the names of a deployment on AWS: its stack without the hyphen, its queues, functions, roles.
 */
export function deploymentPrefix(stage: string, project = defaultProject): string {
  return `${project}-${stage}-`;
}

/** Returns the names of a project's shared objects in a cluster. */
export function clusterNames(project = defaultProject) {
  const prefix = prefixOf(project);
  return {
    /** The watcher's namespace. */
    namespace: `${prefix}-system`,
    /** The watcher's service account, its roles, its Deployment, and the field manager of the watch checkpoint. */
    watcher: `${prefix}-watcher`,
    /** The ConfigMap of the watch checkpoint. */
    checkpoint: `${prefix}-watch-checkpoint`,
    /** The flow schema and its priority level. */
    flowSchema: prefix,
    /** The beginning of the names of the policies on fields that name Secrets. */
    references: `${prefix}-references`,
    /** The roles of the resync. */
    resync: `${prefix}-resync`,
    /** The user and group name of the resync. */
    resyncIdentity: `${identityPrefix(project)}resync`,
    /** The user and group name of a fleet watcher. A watcher in the cluster is its service account. */
    watcherIdentity: `${identityPrefix(project)}watcher`,
  };
}

/** Returns whether this is the namespace of the watcher of any project. */
export function isWatcherNamespace(namespace: string): boolean {
  return /^outrigger(-.+)?-system$/.test(namespace);
}

/** Returns whether this is the key of a watch checkpoint, of any project. */
export function isCheckpointKey({ namespace, name }: { readonly namespace: string; readonly name: string }): boolean {
  return isWatcherNamespace(namespace) && name === namespace.replace(/system$/, 'watch-checkpoint');
}

/** The names of the default project. */
export const {
  namespace: systemNamespace,
  watcher: watcherAccount,
  checkpoint: checkpointName,
  resyncIdentity,
  watcherIdentity,
} = clusterNames();

/**
 * Returns a controller's user and group name in a cluster. RBAC grants it exactly the access that the controller
 * declared.
 */
export function controllerIdentity(controller: string, project = defaultProject): string {
  return `${identityPrefix(project)}controller:${controller}`;
}

function identityPrefix(project: string): string {
  return project === defaultProject ? 'outrigger:' : `outrigger:${project}:`;
}

/**
 * Returns the name of a controller's ClusterRole, and the beginning of the names of its admission policies. The dot
 * keeps the controller `a-b` of the default project and the controller `b` of the project `a` apart.
 */
export function controllerRole(controller: string, project = defaultProject): string {
  return `outrigger-${controllerLabelValue(controller, project)}`;
}

/**
 * Returns the group in the key of an object that a controller maps to others of the kind that it reconciles. A key in
 * the kind's own group is reconciled. The group has no dot if that of the kind is empty, so no CRD has it.
 */
export function selfMappedGroup(group: string): string {
  return group === '' ? 'mapped' : `mapped.${group}`;
}

/** The longest name of a project: what is left of 63 characters of a label for a controller's name. */
const maxProjectCharacters = 30;

/** The end of the name of an object that was deleted. To a watch with a selector, one that left it looks the same. */
export const deletedMark = '(deleted or no longer selected)';

/** Returns why a text cannot be the name of a project; undefined if it can. */
export function projectNameProblem(name: string): string | undefined {
  // osls refuses a service with a name of one character.
  if (!/^[a-z][-a-z0-9]*[a-z0-9]$/.test(name))
    return 'use two or more lower-case letters, digits and hyphens, as in cafe-chain';
  if (name.length > maxProjectCharacters) return `it is longer than ${maxProjectCharacters} characters`;
  // `outrigger:controller:…` is an identity of the default project.
  return name === 'controller' ? 'it is reserved' : undefined;
}

/** `water-tank` and `PLANT_URL` as ids of a template: `WaterTank`, `PlantUrl`. */
export function logicalId(name: string): string {
  const words = name.toLowerCase().split(/[-_]/);
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

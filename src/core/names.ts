// Names that several parts of the system share: label and annotation keys, names derived from a controller's name,
// queues and the objects of the watcher.

const domain = 'outrigger.dev';

/** On every child. A change of the child triggers this controller even after another owner has adopted the child. */
export const controllerLabel = `${domain}/controller`;
export const ownerUidLabel = `${domain}/owner-uid`;
/** On every child: the owner's `namespace/name`, or `name` for a cluster-scoped owner. */
export const ownerAnnotation = `${domain}/owner`;
/** Each new value triggers a reconcile. */
export const reconcileRequestedAnnotation = `${domain}/reconcile-requested-at`;
/** While it is `true`, the object is not reconciled. */
export const pausedAnnotation = `${domain}/paused`;

/** Returns a controller's finalizer. Each controller has its own, so each one finalizes independently of the others. */
export function finalizerOf(controller: string): string {
  return `${domain}/${controller}`;
}

/** Returns the controller of a finalizer, or undefined if the finalizer is not one of Outrigger's. */
export function controllerOfFinalizer(finalizer: string): string | undefined {
  return finalizer.startsWith(`${domain}/`) ? finalizer.slice(domain.length + 1) : undefined;
}

const managerPrefix = 'outrigger-';

/** Returns the field manager with which a controller applies. */
export function fieldManagerOf(controller: string): string {
  return `${managerPrefix}${controller}`;
}

/** Returns the controller of a field manager, or undefined if the manager is not one of Outrigger's. */
export function controllerOfManager(manager: string): string | undefined {
  return manager.startsWith(managerPrefix) ? manager.slice(managerPrefix.length) : undefined;
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

/** The watcher's namespace in its cluster, its service account, and the ConfigMap of its watch checkpoint. */
export const systemNamespace = 'outrigger-system';
export const watcherAccount = 'outrigger-watcher';
export const checkpointName = 'outrigger-watch-checkpoint';

/**
 * Returns a controller's user and group name in a cluster. RBAC grants it exactly the access that the controller
 * declared.
 */
export function controllerIdentity(controller: string): string {
  return `outrigger:controller:${controller}`;
}

/** The user and group name of the resync in a cluster. */
export const resyncIdentity = 'outrigger:resync';

// Words that more than one part must spell alike: labels, annotations, lanes, names that are derived from a controller's.

/** Why a message travels. For delivery, logs and metrics only; no reconciler sees it. */
export const lanes = ['watch', 'requeue', 'retry', 'resync', 'replay'] as const;
export type Lane = (typeof lanes)[number];

const domain = 'outrigger.dev';

/** On every child, so that it wakes its maker even when it was handed to another owner. */
export const controllerLabel = `${domain}/controller`;
export const ownerUidLabel = `${domain}/owner-uid`;
/** On every child: `namespace/name` (or `name`) of the owner. */
export const ownerAnnotation = `${domain}/owner`;
/** Set to any new value: reconcile now. */
export const reconcileRequestedAnnotation = `${domain}/reconcile-requested-at`;
/** Set to `true`: the object is left alone until it is removed. */
export const pausedAnnotation = `${domain}/paused`;

/** The finalizer of a controller, one for each so that each is done by itself. */
export function finalizerOf(controller: string): string {
  return `${domain}/${controller}`;
}

/** Names the controller whose finalizer this is; undefined for somebody else's. */
export function controllerOfFinalizer(finalizer: string): string | undefined {
  return finalizer.startsWith(`${domain}/`) ? finalizer.slice(domain.length + 1) : undefined;
}

const managerPrefix = 'outrigger-';

/** The field manager under which a controller applies. */
export function fieldManagerOf(controller: string): string {
  return `${managerPrefix}${controller}`;
}

/** Names the controller whose field manager this is; undefined for somebody else's. */
export function controllerOfManager(manager: string): string | undefined {
  return manager.startsWith(managerPrefix) ? manager.slice(managerPrefix.length) : undefined;
}

/** Queue names without the prefix of the deployment (design: one FIFO queue and one dead-letter queue a controller). */
export function controllerQueue(controller: string): string {
  return `${controller}.fifo`;
}
export function controllerDeadLetters(controller: string): string {
  return `${controller}-dlq.fifo`;
}
export const timersQueue = 'timers';
export const timersDeadLetters = 'timers-dlq';
export const resyncQueue = 'resync';
export const resyncDeadLetters = 'resync-dlq';

/** Where the watcher lives in its cluster, as whom, and the ConfigMap that holds its cursor. */
export const systemNamespace = 'outrigger-system';
export const watcherAccount = 'outrigger-watcher';
export const cursorName = 'outrigger-cursor';

/** Who a controller is to a cluster: a user name or a group of this name has exactly what the controller declared. */
export function controllerIdentity(controller: string): string {
  return `outrigger:controller:${controller}`;
}
/** Who the resync is to a cluster. */
export const resyncIdentity = 'outrigger:resync';

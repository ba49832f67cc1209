// The owner of a child. Any client can set names and labels, so only the controller owner reference counts, as in
// Kubernetes.

/** The part of an object that names its owners. */
type WithOwners = {
  readonly metadata?: {
    readonly ownerReferences?:
      | readonly { readonly uid: string; readonly controller?: boolean | undefined }[]
      | undefined;
  };
};

/**
 * Returns the uid of an object's controller, as metav1.GetControllerOf finds it, or undefined if it has none.
 * @example const own = (await list(Job)).filter((job) => controllerUidOf(job) === schedule.metadata.uid);
 */
export function controllerUidOf(object: WithOwners | undefined): string | undefined {
  return object?.metadata?.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}

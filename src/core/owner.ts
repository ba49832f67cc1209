// Whose child an object is. Names and labels are anybody's to give; the controller reference is what Kubernetes goes by.

/** As much of an object as says whose it is. */
type Owned = {
  readonly metadata?: {
    readonly ownerReferences?:
      | readonly { readonly uid: string; readonly controller?: boolean | undefined }[]
      | undefined;
  };
};

/** Returns the uid of an object's controller, as metav1.GetControllerOf finds it; undefined for one that has none. */
export function controllerUidOf(object: Owned | undefined): string | undefined {
  return object?.metadata?.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}

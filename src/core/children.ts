// How a reconciler asks for the children of a kind, and what it is told of those that were written.

/** What was done to a child: as it is now, and as it was before. One that is deleted is given as it was. */
export type ChildChange<O extends object = object> =
  | { readonly type: 'created'; readonly child: O }
  | { readonly type: 'changed'; readonly child: O; readonly before: O }
  | { readonly type: 'deleted'; readonly child: O };

/** How the children of a kind are made so. */
export type ChildrenOptions<O extends object = object> = {
  /** Deletes what we own and do not name; true when absent. */
  readonly prune?: boolean;
  /**
   * Lists that are ours alone although the API merges them by key (`spec.ports`): what others have put there is taken out.
   * Only for lists that we always give.
   */
  readonly whole?: readonly string[];
  /** Told of each child that was written, once it is: what Events are made of. A set that is as it should be tells nothing. */
  readonly onChange?: (change: ChildChange<O>) => void;
};

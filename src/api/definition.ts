// A controller without its types, as the runtime, `generate` and the registry see it: what it declares, and how it is
// started.
import type * as z from 'zod';
import type { ControllerOptions } from '../core/controller-options.ts';
import type { Key } from '../core/key.ts';
import type { Selector } from '../core/selector.ts';
import type { Allows } from './allows.ts';
import type { UntypedContext } from './context.ts';
import type { ExecSpec } from './exec.ts';
import type { Kind } from './kind.ts';
import type { KindDefinition } from './kind-definition.ts';
import type { AnyResult } from './parse-result.ts';
import type { Permission } from './permissions.ts';
import type { Read } from './reads.ts';
import type { Finalized } from './result.ts';
import type { SecretReader } from './secret.ts';
import type { MetadataSpec } from './set-metadata.ts';
import type { StatusSlice } from './status-slice.ts';
import type { Wake } from './wake.ts';

/** The kind that a controller reconciles. One without a definition is a foreign kind: its status is not written. */
export interface PrimaryKind extends Kind {
  readonly definition?: KindDefinition;
}

/** The variables that settings are read from. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The second argument of `clients`. */
export type ClientsOptions = {
  /** Whether this is a dry run. A client that reads by POST, as those of AWS do, is refused: return a double for it. */
  readonly dryRun: boolean;
};

/** The changes of an object that trigger a reconcile: all but those of the status alone, or every write. */
export type Changes = 'metadata' | 'any';

/** What a controller declares, without its code. */
export type ControllerDeclaration = {
  /** The kind that it reconciles. */
  readonly resource: PrimaryKind;
  /** The objects that it reconciles; absent: all of the kind. */
  readonly selector?: Selector | undefined;
  /** The slice of a second controller on the kind. Absent: this is the kind's first controller. */
  readonly statusSlice?: StatusSlice | undefined;
  /** The kinds of its children. */
  readonly owns: readonly Kind[];
  /** The privileges of its children. Absent: none. */
  readonly allows?: Allows | undefined;
  /** The kinds that it reads, and where. */
  readonly reads: readonly Read[];
  /** The kinds that it watches, without the functions that map them. */
  readonly watches: readonly {
    /** The watched kind. */
    readonly kind: Kind;
    /** The objects that are watched; absent: all. */
    readonly selector?: Omit<Selector, 'fields'> | undefined;
    /** The changes of its objects that count. Absent: every write. */
    readonly changes?: Changes | undefined;
    /** The label that names the object to reconcile. */
    readonly label?: string;
    /** The kind whose label is followed. */
    readonly via?: Kind;
  }[];
  /** Events outside of the cluster. Their mapping functions need no settings, so they are part of it. */
  readonly wakes: readonly Wake[];
  /** The variables that its function needs. */
  readonly settings?: z.ZodObject | undefined;
  /** Statements of the role of its function. Absent: none beside those that every function has. */
  readonly permissions?: readonly Permission[] | undefined;
  /** The commands that it may run in pods. */
  readonly exec?: ExecSpec | undefined;
  /** The labels and annotations that it sets on its objects. Absent: none. */
  readonly sets?: MetadataSpec | undefined;
  /** Whether its role may delete its objects. */
  readonly deletesSelf?: true | undefined;
  /** Whether it has a finalizer. */
  readonly finalizes: boolean;
  /** The changes of an object that trigger a reconcile. Absent: the default of the kind. */
  readonly changes?: Changes | undefined;
  /** Where it stores what it has observed of an object. Absent: in its status; nowhere for a foreign kind. */
  readonly evidence?: 'annotation' | undefined;
  /** Whether its finalizer may delay the deletion of Pods, Nodes and volumes. */
  readonly blocksDeletion?: boolean | undefined;
  /** Concurrency, time-out, retries and the like, with their defaults. */
  readonly options: ControllerOptions;
};

/** Whether an object shows what a controller has observed of it. Without that nothing tells which changes it missed. */
export function hasEvidence({ resource, evidence, statusSlice }: ControllerDeclaration): boolean {
  return resource.definition !== undefined || evidence !== undefined || statusSlice?.isObserved === true;
}

/**
 * Whether a controller marks the objects that it holds with a label: it has a selector, and leaves something behind on
 * an object that is no longer selected.
 */
export function marksHeldObjects({
  selector,
  finalizes,
  owns,
  sets,
  statusSlice,
  evidence,
}: ControllerDeclaration): boolean {
  const writes = finalizes || sets !== undefined || evidence !== undefined || statusSlice !== undefined;
  return selector !== undefined && (writes || owns.length > 0);
}

/** A controller whose settings are read and whose clients are made. */
export type ControllerInstance = {
  /** Throws InvalidSpecError, InvalidResultError, TerminalError, or the error of the author's code. */
  reconcile(raw: object, context: UntypedContext): Promise<AnyResult>;
  /** Calls the finalizer of the author. Without one it returns `done`. */
  finalize(raw: object, context: UntypedContext): Promise<Finalized>;
  /** Maps a change of `watches[index]` to the keys of primaries; none for a watch that the watcher maps by label. */
  mapToKeys(index: number, changed: Key, context: UntypedContext): Promise<readonly Key[]>;
};

/** A controller as the registry holds it. */
export type ControllerDefinition = {
  /** Names queue, function, finalizer and field manager: lower case, digits, `-`; at most 40 characters. */
  readonly name: string;
  /** What the controller says of itself. */
  readonly declaration: ControllerDeclaration;
  /**
   * Reads the settings and makes the clients. Throws SettingsError, naming each variable that is missing or wrong.
   * Without `secrets` the settings that are secrets cannot be read.
   */
  start(environment: Environment, secrets?: SecretReader, options?: ClientsOptions): ControllerInstance;
};

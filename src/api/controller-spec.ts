// The types of what an author writes: the spec of a controller, and what the `controller` method of a kind makes of it.
import type * as z from 'zod';
import type { OptionsSpec } from '../core/controller-options.ts';
import type { Key } from '../core/key.ts';
import type { Scope } from '../core/kind-names.ts';
import type { Selector } from '../core/selector.ts';
import type { Allows } from './allows.ts';
import type { Context, ContextTypes, MapContext } from './context.ts';
import type { Changes, ClientsOptions, ControllerDefinition } from './definition.ts';
import type { ExecSpec, NoExecDeclared } from './exec.ts';
import type { Kind } from './kind.ts';
import type { Permission } from './permissions.ts';
import type { KindOfRead, Read } from './reads.ts';
import type { Exactly, Finalized, Result } from './result.ts';
import type { MetadataSpec, NoMetadataDeclared } from './set-metadata.ts';
import type { Wake } from './wake.ts';

/** The types of a kind, or of a slice of it, on which the spec of its controller depends. */
export type PrimaryTypes = {
  readonly primary: object;
  readonly scope: Scope;
  readonly status: unknown;
  readonly conditions: string;
};

/** PrimaryTypes in one line. */
export type Primary<O extends object, S extends Scope, Status, C extends string> = {
  primary: O;
  scope: S;
  status: Status;
  conditions: C;
};

/**
 * The type of clients where none are declared, or where they are used above the line that declares them. The compiler's
 * errors show its name.
 */
export interface NoClientsDeclaredAbove {
  readonly 'declare `clients` first, above `watches` and `reconcile`': never;
}

/** A kind that is in neither of the lists. The compiler's errors show its name, after the kinds that are. */
export type AddItTo<List extends string> = Kind<`add the kind to ${List}`, never>;

/**
 * A watched kind, which is neither owned nor the primary kind. A label's value or a function maps its changes to keys.
 */
export type Watch<T extends ContextTypes> = {
  /** The kind whose changes are watched. */
  readonly kind: Kind;
  /** Only objects that it selects. Absent: all. One that leaves the selection is a change as well. */
  readonly selector?: Omit<Selector, 'fields'>;
  /**
   * The changes that count. `metadata`: the spec, labels, annotations, finalizers and deletion, and no write of the
   * status. Only the metadata of Nodes, Leases, Events and Endpoints. Default: `any`, every write.
   */
  readonly changes?: Changes;
} & (
  | {
      /** The label whose value is the primary's name. */
      readonly label: string;
      /**
       * The label names an object of this kind instead, another entry of `watches`: its function maps that object's
       * key.
       */
      readonly via?: Kind;
    }
  | {
      /**
       * Returns the keys of the primaries to reconcile for an object that was changed, created or deleted. It runs in
       * the controller's function.
       */
      mapToKeys(changed: Key, context: MapContext<T>): Promise<readonly Key[]> | readonly Key[];
    }
);

/** The types on which the context of a controller depends. */
export type TypesOfContext<
  P extends PrimaryTypes,
  Owns extends Kind,
  Reads extends Read,
  Clients,
  Exec extends ExecSpec,
  Sets extends MetadataSpec,
> = {
  scope: P['scope'];
  owns: Owns | AddItTo<'owns'>;
  reads: KindOfRead<Reads> | AddItTo<'reads'>;
  clients: Clients;
  exec: Exec;
  sets: Sets;
};

/**
 * What an author writes. `Owns`, `Reads`, `Settings`, `Clients` and `Exec` are parameters of their own: TypeScript
 * infers nothing inside a record of them. An interface, so that messages show its name.
 */
export interface ControllerSpec<
  P extends PrimaryTypes,
  Owns extends Kind,
  Reads extends Read,
  Settings extends z.ZodObject,
  Clients,
  Exec extends ExecSpec,
  Sets extends MetadataSpec,
  Returned,
> extends OptionsSpec {
  /**
   * The kinds of the children, which it applies. Its role may write them, and a change of a child reconciles the
   * object.
   * @example owns: [Deployment, Service]
   */
  readonly owns?: readonly Owns[];
  /** Privileges that its children may have; without this a generated admission policy refuses them. */
  readonly allows?: Allows;
  /**
   * Kinds that are only read, in all namespaces or by `inNamespaces` in some.
   * @example reads: [ConfigMap, inNamespaces(Secret, ['platform'])]
   */
  readonly reads?: readonly Reads[];
  /**
   * The objects of the kind that it reconciles; absent: all. An object that leaves the selection is finalized: its
   * children are deleted, `finalize` runs, and the controller's marks on the object are removed.
   * @example selector: { matchLabels: { tenant: 'true' } }
   */
  readonly selector?: Selector;
  /**
   * The changes of an object that trigger a reconcile. `metadata`: the spec, labels, annotations, finalizers and
   * deletion; of a kind without a generation (Node, ConfigMap, ...) all of these but the spec. `any`: every write, the
   * status included. Default for a kind of defineKind: the spec and deletion; for a foreign kind: `metadata`, and `any`
   * if the kind has no generation. Kinds that change often (Pod, Node, Lease, ...) have no default.
   */
  readonly changes?: Changes;
  /**
   * For a foreign kind: stores a digest of the spec and metadata that a completed reconcile has observed, in an
   * annotation. The resync then finds and counts missed changes. Without it there is no metric MissedChanges.
   */
  readonly evidence?: 'annotation';
  /**
   * With `finalize` on Pods, Nodes and volumes: accepts that these objects stay until it is done. Drains and scaling
   * then wait while the functions are down.
   */
  readonly finalizer?: 'blocks-deletion';
  /**
   * The environment variables of its function, parsed once, at cold start; an error names the variable.
   * @example settings: z.object({ PLANT_URL: z.url(), PLANT_TOKEN: secret() })
   */
  readonly settings?: Settings;
  /**
   * What its function may do on AWS beside its own queues: statements of its role.
   * @example permissions: [{ actions: ['s3:GetObject'], resources: ['arn:${AWS::Partition}:s3:::menus/*'] }]
   */
  readonly permissions?: readonly Permission[];
  /**
   * Makes its clients, once at cold start. With `dryRun` any call but GET and HEAD by `fetch` is refused.
   * @example clients: ({ PLANT_URL, PLANT_TOKEN }) => createPlant(PLANT_URL, PLANT_TOKEN)
   */
  clients?(settings: z.output<Settings>, options: ClientsOptions): Clients;
  /**
   * The commands that it may run in containers; without this there is no `exec` in its context.
   * @example exec: { container: 'node', commands: [['bitcoin-cli', 'getpeerinfo']] }
   */
  readonly exec?: Exec;
  /**
   * The labels and annotations that it sets on the object; without this there is no `setMetadata` in its context.
   * @example sets: { labels: ['example.com/tier'] }
   */
  readonly sets?: Sets;
  /** Whether it may delete the objects that it reconciles, by `deleteSelf`. Its role then has `delete` on the kind. */
  readonly deletesSelf?: true;
  /**
   * Further kinds, and the objects that a change of one reconciles.
   * @example watches: [{ kind: Secret, label: 'example.com/cafe' }]
   */
  readonly watches?: readonly Watch<TypesOfContext<P, Owns, Reads, Clients, Exec, Sets>>[];
  /** Events outside of the cluster that trigger a reconcile. */
  readonly wakes?: readonly Wake[];
  /**
   * Brings about what the spec says, and returns the status. It may run twice and stop at any point. Any error that it
   * throws is retried, but for a TerminalError.
   * @example async reconcile(cafe, { apply }): Promise<ResultOf<typeof Cafe>> { ... }
   */
  reconcile(
    object: P['primary'],
    context: Context<TypesOfContext<P, Owns, Reads, Clients, Exec, Sets>>,
  ): Promise<Exactly<Returned, P['status'], P['conditions']>>;
  /** Undoes what the reconcile made outside. The object stays until it returns `done`. It may run twice as well. */
  finalize?(
    object: P['primary'],
    context: Context<TypesOfContext<P, Owns, Reads, Clients, Exec, Sets>>,
  ): Promise<Finalized>;
}

/** A controller: what its author wrote, for tests that call it, and its definition, for the registry. */
export type Controller<
  P extends PrimaryTypes,
  Owns extends Kind,
  Reads extends Read,
  Settings extends z.ZodObject,
  Clients,
  Exec extends ExecSpec,
  Sets extends MetadataSpec,
> = ControllerSpec<P, Owns, Reads, Settings, Clients, Exec, Sets, Result<P['status'], P['conditions']>> &
  ControllerDefinition;

/**
 * The `controller` method of a kind or of a slice. The compiler's errors show the names of the defaults of its type
 * parameters.
 */
export type DefineController<P extends PrimaryTypes> = <
  Owns extends Kind = AddItTo<'owns'>,
  Reads extends Read = AddItTo<'reads'>,
  Settings extends z.ZodObject = z.ZodObject,
  Clients = NoClientsDeclaredAbove,
  Exec extends ExecSpec = NoExecDeclared,
  const Sets extends MetadataSpec = NoMetadataDeclared,
  Returned extends Result<P['status'], P['conditions']> = Result<P['status'], P['conditions']>,
>(
  name: string,
  spec: ControllerSpec<P, Owns, Reads, Settings, Clients, Exec, Sets, Returned>,
) => Controller<P, Owns, Reads, Settings, Clients, Exec, Sets>;

/** A spec as the runtime calls it, without the types that differ between controllers. */
export type AnySpec = ControllerSpec<
  PrimaryTypes,
  Kind,
  Read,
  z.ZodObject,
  unknown,
  ExecSpec,
  MetadataSpec,
  Result<unknown, string>
>;

type WithController<P extends PrimaryTypes> = { readonly controller: DefineController<P> };

/**
 * The result of a kind's controller. Annotate reconcile with it: an error is then reported at the field that is wrong.
 * @example async reconcile(cafe, context): Promise<ResultOf<typeof Cafe>> { ... }
 */
export type ResultOf<K> = K extends WithController<infer P> ? Result<P['status'], P['conditions']> : never;

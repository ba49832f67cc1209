// The types of a custom kind and of its objects: what a reconciler sees, and what `generate` needs to know.
import type * as z from 'zod';
import type { Scope } from '../core/kind-names.ts';
import type { Meta, Within } from './kind.ts';
import type { Condition } from './result.ts';

/** An object of a custom kind, as a reconciler sees it. */
export type CustomResource<Spec, Status, S extends Scope = Scope> = {
  /** The name, uid, labels and the like. */
  readonly metadata: Meta & Within<S>;
  /** What the user asks for. */
  readonly spec: Spec;
  /** The last status; undefined when it is absent, unreadable or without a required field. */
  readonly status?: Status;
  /** The current conditions; compare a child's with its generation. */
  readonly conditions?: readonly Condition[];
  /** The generation that the status is of. */
  readonly observedGeneration?: number;
};

/** A column of `kubectl get`: the path of its field, or also how it is shown. */
export type PrinterColumn =
  | `.${string}`
  | {
      /** Where the value is: `.status.level`. */
      readonly path: `.${string}`;
      /**
       * Default: that of the field, which for a time is `date`. A date is shown as an age, and one in the future as
       * `<invalid>`: show that as `string`.
       */
      readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'date';
      /** Only with `kubectl get -o wide`. */
      readonly wide?: true;
      /** What `kubectl explain` says of it. */
      readonly description?: string;
    };

/** What `generate` needs to know of a kind besides its names. */
export type KindDefinition = {
  readonly spec: z.ZodObject;
  readonly status: z.ZodObject;
  readonly conditions: readonly string[];
  /** Extra columns of `kubectl get`, by name. */
  readonly columns: Readonly<Record<string, PrinterColumn>>;
  readonly scale?: { readonly spec: string; readonly status: string; readonly selector?: string } | undefined;
  readonly shortNames: readonly string[];
  /** Versions before `version`, which the API server still serves, with a warning. */
  readonly formerVersions: readonly string[];
  /** A rule on metadata.name, in CEL (`self.metadata.name`), with the message that a user gets. */
  readonly nameRule?: { readonly rule: string; readonly message: string } | undefined;
};

/** How a controller reads an object of its kind, and what it may write to its status. */
export type StatusView<Primary = object> = {
  readonly conditions: readonly string[];
  /** Throws InvalidSpecError, naming the field. */
  read(raw: object): Primary;
  /**
   * Parses a status strictly. Throws InvalidResultError or TerminalError, naming the field. Absent for a foreign
   * kind: no status is written.
   */
  parseStatus?(status: unknown): object;
};

// A custom kind: its zod schemas for spec and status. The CRD and the types of the reconciler are made from them.

import * as z from 'zod';
import { InvalidSpecError } from '../core/errors.ts';
import { formatZodIssues, isRecord, uncompiled } from '../core/json.ts';
import { describeKind, type Scope } from '../core/kind-names.ts';
import { controllersOf } from './controller.ts';
import type { DefineController, Primary } from './controller-spec.ts';
import type { Kind, Meta, Within } from './kind.ts';
import type { CustomResource, KindDefinition, PrinterColumn } from './kind-definition.ts';
import { parseStrictly } from './parse-result.ts';
import type { Condition } from './result.ts';
import { type SliceCondition, type SliceField, type StatusSlice, sliceView } from './status-slice.ts';

/** A custom kind without its types. An interface, because CustomKind extends it. */
export interface AnyCustomKind extends Kind {
  /** What the CRD is made of. */
  readonly definition: KindDefinition;
  /**
   * Parses a status strictly.
   * @throws InvalidResultError for a wrong or missing value, naming the field
   * @throws TerminalError for a field that the schema does not have
   */
  parseStatus(status: unknown): object;
}

/** Returns whether something is a kind of defineKind. */
export function isCustomKind(given: object): given is AnyCustomKind {
  return 'definition' in given && isRecord(given.definition) && 'parseStatus' in given;
}

/** The types of a custom kind. `input` is a spec as a user may write it, before defaults. */
type KindTypes = {
  /** The kind, such as `Cafe`. */
  readonly name: string;
  /** Whether objects are in namespaces. */
  readonly scope: Scope;
  /** The spec, as the schema reads it. */
  readonly spec: object;
  /** The spec, as a user may write it, without defaults. */
  readonly input: object;
  /** The status, as the schema has it. */
  readonly status: object;
  /** The types of the conditions. */
  readonly conditions: string;
};

/** A custom kind. An interface, so that messages show its name. */
export interface CustomKind<T extends KindTypes>
  extends AnyCustomKind,
    Kind<T['name'], CustomResource<T['spec'], T['status'], T['scope']>, T['scope']> {
  /** The kind, such as `Cafe`. */
  readonly kind: T['name'];
  /** Whether objects are in namespaces. */
  readonly scope: T['scope'];
  /**
   * Declares the kind's first controller.
   * @example Cafe.controller('cafe', { owns: [Deployment], async reconcile(cafe, context): Promise<ResultOf<typeof
   *   Cafe>> { ... } })
   */
  readonly controller: DefineController<
    Primary<CustomResource<T['spec'], T['status'], T['scope']>, T['scope'], T['status'], T['conditions']>
  >;
  /**
   * Declares a slice of the status for a second controller, which reads and returns that slice only. The fields are
   * optional ones of the kind's status; the conditions are new, and report also the errors of that controller.
   * @example Network.statusSlice({ status: ['nodes'], conditions: ['PeersConnected'] }).controller('network-peers', {
   *   ... })
   */
  statusSlice<const F extends SliceField<T['status']>, const C extends string>(slice: {
    /** The fields. */
    readonly status: readonly F[];
    /** The types of the conditions, at least one. */
    readonly conditions: readonly [SliceCondition<C, T['conditions']>, ...SliceCondition<C, T['conditions']>[]];
  }): {
    /** Declares the controller of the slice. */
    readonly controller: DefineController<
      Primary<CustomResource<T['spec'], Pick<T['status'], F>, T['scope']>, T['scope'], Pick<T['status'], F>, C>
    >;
  };
  /**
   * Makes an object for a test, with defaults applied. Without `metadata` it is of generation 1, and in the namespace
   * `default` if the kind is namespaced.
   * @throws InvalidSpecError as a read would
   * @example Cafe.object('north', { seats: 20 }, { namespace: 'shop', deletionTimestamp: '2026-01-01T00:00:00Z' })
   */
  object(
    name: string,
    spec: T['input'],
    metadata?: Partial<Omit<Meta, 'name'>>,
  ): CustomResource<T['spec'], T['status'], T['scope']>;
  /**
   * Reads an object as the API server sent it.
   * @throws InvalidSpecError naming the field
   */
  read(raw: object): CustomResource<T['spec'], T['status'], T['scope']>;
}

// Shared: a function makes each schema when it loads.
const text = z.string();
const optionalText = text.optional();

const currentCondition = z.object({
  type: text,
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.string().catch(''),
  message: optionalText,
  observedGeneration: z.number().optional(),
  lastTransitionTime: optionalText,
});

const envelope = z.looseObject({
  metadata: z.object({
    name: text,
    namespace: optionalText,
    uid: text,
    generation: z.number().default(0),
    resourceVersion: z.string().default(''),
    creationTimestamp: optionalText,
    deletionTimestamp: optionalText,
    labels: z.record(text, text).optional(),
    annotations: z.record(text, text).optional(),
    ownerReferences: z
      .array(
        z.looseObject({
          apiVersion: text,
          kind: text,
          name: text,
          uid: text,
          controller: z.boolean().exactOptional(),
        }),
      )
      .optional(),
  }),
  spec: z.unknown().optional(),
  status: z.unknown().optional(),
});

const runtimeStatus = z.object({
  conditions: z.array(currentCondition).optional().catch(undefined),
  observedGeneration: z.number().optional().catch(undefined),
});

/**
 * Declares a custom kind. A build makes its CustomResourceDefinition of the schemas, and refuses what a CRD cannot say.
 * @example export const WaterTank = defineKind({ group: 'plant.example.com', version: 'v1', kind: 'WaterTank', spec:
 *   z.object({ targetLevel: z.number() }), status: z.object({ action: z.string() }), conditions: ['AtLevel'] });
 */
export function defineKind<
  const Name extends string,
  Spec extends z.ZodObject,
  Status extends z.ZodObject,
  const C extends string,
  S extends Scope = 'Namespaced',
>(definition: {
  /** The API group, a domain of yours: `plant.example.com`. */
  readonly group: string;
  /** The version that is stored, such as `v1`. */
  readonly version: string;
  /** The kind, such as `Cafe`. */
  readonly kind: Name;
  /** The name in URLs and of the CRD, such as `cafes`. Default: guessed from `kind` as Kubernetes does. */
  readonly plural?: string;
  /** Default: `Namespaced`. */
  readonly scope?: S;
  /** The schema of the spec. */
  readonly spec: Spec;
  /** The schema of the status, without conditions. */
  readonly status: Status;
  /** The types of the conditions that `reconcile` returns. The runtime adds Ready: True when all of these are. */
  readonly conditions: readonly C[];
  /** Columns of `kubectl get` besides Ready, Reason and Age: the JSONPath of each, or more about it. */
  readonly columns?: Readonly<Record<string, PrinterColumn>>;
  /** Fields of the subresource scale. A HorizontalPodAutoscaler needs `selector`, the labels of the pods as text. */
  readonly scale?: {
    readonly spec: `.spec.${string}`;
    readonly status: `.status.${string}`;
    readonly selector?: `.status.${string}` | `.spec.${string}`;
  };
  /** Short names for kubectl. */
  readonly shortNames?: readonly string[];
  /** Versions that this one follows, with the same fields: their clients and stored objects go on. */
  readonly formerVersions?: readonly string[];
  /** A rule in CEL for names of new objects, such as `size(self.metadata.name) <= 40`, and what a user is told. */
  readonly nameRule?: { readonly rule: string; readonly message: string };
}): CustomKind<{
  /** The kind. */
  name: Name;
  /** Whether objects are in namespaces. */
  scope: S;
  /** The spec, as the schema reads it. */
  spec: z.output<Spec>;
  /** The spec, as a user may write it. */
  input: z.input<Spec>;
  /** The status. */
  status: z.output<Status>;
  /** The types of the conditions. */
  conditions: C;
}> {
  const { spec, status, conditions, columns = {}, scale, shortNames = [], formerVersions = [], nameRule } = definition;
  const read = (raw: object): CustomResource<z.output<Spec>, z.output<Status>, S> => {
    const parsed = envelope.parse(raw, uncompiled);
    const readSpec = spec.safeParse(parsed.spec);
    if (!readSpec.success) throw new InvalidSpecError(formatZodIssues(readSpec.error, 'spec'));
    const lastStatus = status.safeParse(parsed.status);
    const ours = runtimeStatus.safeParse(parsed.status, uncompiled).data;
    return {
      // The API server gives every namespaced object its namespace.
      metadata: parsed.metadata as Meta & Within<S>,
      spec: readSpec.data,
      ...(lastStatus.success ? { status: lastStatus.data } : {}),
      ...(ours?.conditions === undefined ? {} : { conditions: ours.conditions as readonly Condition[] }),
      ...(ours?.observedGeneration === undefined ? {} : { observedGeneration: ours.observedGeneration }),
    };
  };
  const kind = {
    ...describeKind<Name, S>(definition),
    definition: { spec, status, conditions, columns, shortNames, formerVersions, scale, nameRule },
    read,
    parseStatus: (value: unknown) => parseStrictly(status, value, 'status'),
  };
  return {
    ...kind,
    controller: controllersOf(kind, { ...kind, conditions }),
    // The compiler cannot match the conditions' type, which names no reserved one, with the type that it is inferred
    // from.
    statusSlice: ((slice: StatusSlice<SliceField<z.output<Status>>>) => ({
      controller: controllersOf(kind, sliceView(kind, slice), slice),
    })) as never,
    object: (name, input, metadata = {}) => {
      const place = kind.namespaced ? { namespace: 'default' } : {};
      return read({ metadata: { name, ...place, uid: `uid-of-${name}`, generation: 1, ...metadata }, spec: input });
    },
  };
}

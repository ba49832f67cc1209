// A kind of our own: one zod schema for spec and status, from which the CRD, the RBAC and the reconciler's types come.
import * as z from 'zod';
import { InvalidSpecError } from './errors.ts';
import { describeKind, type Kind, type Meta } from './kind.ts';
import { parseStrictly } from './parse-strictly.ts';
import type { StandingCondition } from './result.ts';
import { formatProblems } from './zod-problems.ts';

/** An object of a kind of ours, as a reconciler sees it. */
export interface Custom<S, T> {
  readonly metadata: Meta;
  readonly spec: S;
  /** Our own past. Absent, unreadable or without its required fields, it is undefined. */
  readonly status?: T;
  /** The conditions as they stand; for a child, with whose generation they are to be compared. */
  readonly conditions?: readonly StandingCondition[];
  readonly observedGeneration?: number;
}

/** What `generate` needs to know of a kind beside its names. */
export type Definition = {
  readonly spec: z.ZodObject;
  readonly status: z.ZodObject;
  readonly conditions: readonly string[];
  /** Extra columns of `kubectl get`: name → JSONPath. */
  readonly columns: Readonly<Record<string, string>>;
  readonly scale?: { readonly spec: string; readonly status: string };
  readonly shortNames: readonly string[];
  /** A rule on metadata.name, in CEL (`self.metadata.name`), with the message that a user gets. */
  readonly nameRule?: { readonly rule: string; readonly message: string };
};

/** A kind of ours without its types. */
export interface AnyResource extends Kind {
  readonly definition: Definition;
  /** Parses a status strictly. Throws InvalidResultError naming the field that is unknown or wrong. */
  parseStatus(status: unknown): object;
}

/** A kind of ours. `I` is what a user may write as spec, before defaults. */
export interface Resource<S, T, C extends string, I = S> extends AnyResource, Kind<Custom<S, T>> {
  readonly conditions: readonly C[];
  /** Makes an object for a test, with defaults applied. Throws InvalidSpecError as a read would. */
  object(name: string, spec: I): Custom<S, T>;
  /** Reads an object as the API server sent it. Throws InvalidSpecError, naming the field. */
  read(raw: object): Custom<S, T>;
}

const standing = z.object({
  type: z.string(),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.string().catch(''),
  message: z.string().optional(),
  observedGeneration: z.number().optional(),
  lastTransitionTime: z.string().optional(),
});

const envelope = z.looseObject({
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().optional(),
    uid: z.string(),
    generation: z.number().default(0),
    labels: z.record(z.string(), z.string()).optional(),
  }),
  spec: z.unknown().optional(),
  status: z.unknown().optional(),
});

const runtimeStatus = z.object({
  conditions: z.array(standing).optional().catch(undefined),
  observedGeneration: z.number().optional().catch(undefined),
});

/**
 * Declares a kind of ours.
 * @example defineResource({ group: 'plant.example.com', version: 'v1', kind: 'WaterTank', spec: z.object({ targetLevel: z.number() }), status: z.object({ action: z.string() }), conditions: ['AtLevel'] })
 */
export function defineResource<S extends z.ZodObject, T extends z.ZodObject, const C extends string>(definition: {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural?: string;
  readonly scope?: 'Namespaced' | 'Cluster';
  readonly spec: S;
  readonly status: T;
  /** The runtime adds Ready, which is True when all of these are. */
  readonly conditions: readonly C[];
  readonly columns?: Readonly<Record<string, `.${string}`>>;
  readonly scale?: { readonly spec: `.spec.${string}`; readonly status: `.status.${string}` };
  readonly shortNames?: readonly string[];
  readonly nameRule?: { readonly rule: string; readonly message: string };
}): Resource<z.output<S>, z.output<T>, C, z.input<S>> {
  const { spec, status, conditions, columns = {}, scale, shortNames = [], nameRule } = definition;
  const read = (raw: object): Custom<z.output<S>, z.output<T>> => {
    const parsed = envelope.parse(raw);
    const readSpec = spec.safeParse(parsed.spec);
    if (!readSpec.success) throw new InvalidSpecError(formatProblems(readSpec.error, 'spec'));
    const ownPast = status.safeParse(parsed.status);
    const ours = runtimeStatus.safeParse(parsed.status).data;
    return {
      metadata: metaOf(parsed.metadata),
      spec: readSpec.data,
      ...(ownPast.success ? { status: ownPast.data } : {}),
      ...(ours?.conditions === undefined ? {} : { conditions: ours.conditions.map(standingOf) }),
      ...(ours?.observedGeneration === undefined ? {} : { observedGeneration: ours.observedGeneration }),
    };
  };
  return {
    ...describeKind(definition),
    conditions,
    definition: {
      spec,
      status,
      conditions,
      columns,
      shortNames,
      ...(scale === undefined ? {} : { scale }),
      ...(nameRule === undefined ? {} : { nameRule }),
    },
    read,
    parseStatus: (value) => parseStrictly(status, value, 'status'),
    object: (name, wanted) =>
      read({ metadata: { name, namespace: 'default', uid: `uid-of-${name}`, generation: 1 }, spec: wanted }),
  };
}

function metaOf({ name, namespace, uid, generation, labels }: z.output<typeof envelope>['metadata']): Meta {
  return {
    name,
    uid,
    generation,
    ...(namespace === undefined ? {} : { namespace }),
    ...(labels === undefined ? {} : { labels }),
  };
}

function standingOf(condition: z.output<typeof standing>): StandingCondition {
  const { type, status, reason, message, observedGeneration, lastTransitionTime } = condition;
  return {
    type,
    status,
    reason,
    ...(message === undefined ? {} : { message }),
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }),
  };
}

// The shape of a controller's spec, for authors without the compiler's check: JavaScript, a cast, a value from a file.
// An unknown option is refused as well, because a misspelt one would have no effect. The limits of numbers are in
// core/controller-options.ts, and what needs the whole registry in check-registry.ts of
// @outrigger/cli. Without zod: each cold start runs this, and making the schemas took several milliseconds.
import type { OptionsSpec, RetryPolicy } from '../core/controller-options.ts';
import { SchemaError } from '../core/errors.ts';
import { isRecord } from '../core/json.ts';
import { isLabelKey } from '../core/labels.ts';
import type { Selector } from '../core/selector.ts';
import type { Allows, PolicyRule } from './allows.ts';
import type { AnySpec } from './controller-spec.ts';
import type { ControllerDefinition } from './definition.ts';
import type { ExecSpec } from './exec.ts';
import type { Permission } from './permissions.ts';
import type { KindInNamespaces } from './reads.ts';
import type { MetadataSpec } from './set-metadata.ts';

type Problem = { readonly path: readonly string[]; readonly text: string };
/** Returns the first problem of a value; undefined if it has none. */
type Check = (value: unknown) => Problem | undefined;
/** A check of each field of `T`, so that the compiler finds one that is missing here. */
type Fields<T> = { readonly [Field in keyof T]-?: Check };

const accepted: Check = () => undefined;
/** controllerOptions checks it. */
const number = accepted;
const text = is('a string', (value) => typeof value === 'string');
const metadataKey = is('a key such as example.com/size', (value) => typeof value === 'string' && isLabelKey(value));
const callable = is('a function', (value) => typeof value === 'function');
const kind = is(
  'a kind',
  (value) => isRecord(value) && typeof value.kind === 'string' && typeof value.plural === 'string',
);
const readInNamespaces: Check = (value) =>
  record({ of: kind, namespaces: listOf(text) } satisfies Fields<KindInNamespaces>, ['of', 'namespaces'])(value);
const permitted = oneOf(true);
/** By its shape: an author's zod may be another installation of it. */
const schema = is(
  'an object schema of zod',
  (value) => isRecord(value) && isRecord(value.shape) && typeof value.safeParse === 'function',
);
/** A setting is a variable of the environment, which is text. */
const textOnly: Check = (value) => {
  const fields = isRecord(value) && isRecord(value.shape) ? Object.entries(value.shape) : [];
  return firstProblem(fields.map(([name, field]) => [name, field, readsText]));
};
const readsText: Check = (field) => {
  const { type, coerce, innerType } = isRecord(field) && isRecord(field.def) ? field.def : {};
  if (innerType !== undefined) return readsText(innerType);
  // To a coerced boolean every text is true, also "false".
  const isRead = coerce === true && type !== 'boolean';
  const instead = typeof type === 'string' && !isRead ? insteadOf[type] : undefined;
  if (instead === undefined) return undefined;
  const what = coerce === true ? 'z.coerce.boolean() makes true, also "false"' : `z.${type}() does not accept`;
  return { path: [], text: `a setting is text, which ${what}: use ${instead}` };
};
/** What reads a text as a value of a type of zod. */
const insteadOf: Readonly<Record<string, string>> = {
  number: 'z.coerce.number()',
  bigint: 'z.coerce.bigint()',
  boolean: 'z.stringbool()',
  date: 'z.coerce.date()',
  object: 'one setting for each field, or z.string().transform()',
  array: 'z.string().transform()',
};
const command: Check = (value) => (Array.isArray(value) ? listOf(text)(value) : mutatingCommand(value));
const mutatingCommand = record({ argv: listOf(text), mutates: oneOf(true) }, ['argv', 'mutates']);
const texts = listOf(text);
const named = listOf(is('a name without *', (value) => typeof value === 'string' && !value.includes('*')));
/** With these verbs an identity gives itself any permission. Those of `bind` are in `clusterRoles`. */
const unlimited: readonly unknown[] = ['*', 'bind', 'escalate', 'impersonate'];
const verbs = listOf(is('a verb such as get', (value) => typeof value === 'string' && !unlimited.includes(value)));
const policyRule = record(
  { apiGroups: named, resources: named, verbs, resourceNames: texts } satisfies Fields<PolicyRule>,
  ['apiGroups', 'resources', 'verbs'],
);
const labels = mapOf(text);
const changes = oneOf('metadata', 'any');
const expression = record(
  { key: metadataKey, operator: oneOf('In', 'NotIn', 'Exists', 'DoesNotExist'), values: texts },
  ['key', 'operator'],
);
const watchSelector = {
  matchLabels: labels,
  matchExpressions: listOf(expression),
  annotations: listOf(metadataKey),
  namespaces: listOf(text),
} satisfies Fields<Omit<Selector, 'fields'>>;
const watchFields = record(
  { kind, selector: record(watchSelector), changes, label: metadataKey, via: kind, mapToKeys: callable },
  ['kind'],
);
const mapping: Check = (value) => {
  const { label, mapToKeys, via } = isRecord(value) ? value : {};
  if ((label === undefined) === (mapToKeys === undefined)) return { path: [], text: 'give label or mapToKeys' };
  return label === undefined && via !== undefined ? { path: ['via'], text: 'is for a label; leave it out' } : undefined;
};

/** A controller is a spec as well (`{ ...waterTank, watches }`), so the fields of its definition are accepted. */
const spec = record(
  {
    name: accepted,
    declaration: accepted,
    start: accepted,
    concurrency: number,
    reservedConcurrency: oneOf(true, false),
    timeoutSeconds: number,
    memoryMb: number,
    batchSize: number,
    retry: record({ firstSeconds: number, maxSeconds: number, attempts: number } satisfies Fields<RetryPolicy>),
    rateLimit: record({ perSecond: number, burst: number } satisfies Fields<NonNullable<OptionsSpec['rateLimit']>>),
    resyncPeriodSeconds: number,
    owns: listOf(kind),
    allows: record({
      serviceAccountName: permitted,
      automountServiceAccountToken: permitted,
      hostNamespaces: permitted,
      hostPorts: permitted,
      privileged: permitted,
      secrets: permitted,
      nodeName: permitted,
      priorityClassName: permitted,
      volumes: listOf(text),
      serviceTypes: listOf(oneOf('NodePort', 'LoadBalancer', 'ExternalName')),
      externalIPs: permitted,
      adoption: permitted,
      clusterRoles: listOf(text),
      grants: listOf(policyRule),
    } satisfies Fields<Allows>),
    reads: listOf((value) => (isRecord(value) && 'of' in value ? readInNamespaces(value) : kind(value))),
    selector: record({ ...watchSelector, fields: labels } satisfies Fields<Selector>),
    changes,
    evidence: oneOf('annotation'),
    finalizer: oneOf('blocks-deletion'),
    settings: (value) => schema(value) ?? textOnly(value),
    permissions: listOf(
      record(
        {
          actions: texts,
          resources: texts,
          wildcard: permitted,
          conditions: mapOf(mapOf((value) => (Array.isArray(value) ? texts(value) : text(value)))),
        } satisfies Fields<Permission>,
        ['actions', 'resources'],
      ),
    ),
    clients: callable,
    exec: record({ container: text, commands: listOf(command) } satisfies Fields<ExecSpec>, ['container', 'commands']),
    sets: record({ labels: listOf(metadataKey), annotations: listOf(metadataKey) } satisfies Fields<MetadataSpec>),
    deletesSelf: permitted,
    watches: listOf((value) => watchFields(value) ?? mapping(value)),
    // `wake` checks the pattern.
    wakes: listOf(
      record({ source: text, detailType: text, detail: accepted, mapToKeys: callable }, [
        ...['source', 'detailType', 'mapToKeys'],
      ]),
    ),
    reconcile: callable,
    finalize: callable,
  } satisfies Fields<AnySpec & ControllerDefinition>,
  ['reconcile'],
);

/**
 * Checks the shape of a spec. Throws SchemaError with the path of the first option that is unknown or has another type,
 * such as `controller water-tank.retry`.
 */
export function checkSpec(controller: string, written: unknown): void {
  const problem = spec(written);
  if (problem !== undefined)
    throw new SchemaError([`controller ${controller}`, ...problem.path].join('.'), problem.text);
}

function is(what: string, matches: (value: unknown) => boolean): Check {
  return (value) => (matches(value) ? undefined : { path: [], text: `give ${what}` });
}

function oneOf(...values: readonly (string | boolean)[]): Check {
  return is(values.join(' or '), (value) => values.some((one) => one === value));
}

function listOf(check: Check): Check {
  return (value) =>
    Array.isArray(value)
      ? firstProblem(value.map((one: unknown, index) => [String(index), one, check]))
      : { path: [], text: 'give a list' };
}

function mapOf(check: Check): Check {
  return (value) =>
    isRecord(value)
      ? firstProblem(Object.entries(value).map(([name, one]) => [name, one, check]))
      : { path: [], text: 'give an object' };
}

/** A field that is undefined counts as absent. */
function record(fields: Readonly<Record<string, Check>>, required: readonly string[] = []): Check {
  return (value) => {
    if (!isRecord(value)) return { path: [], text: 'give an object' };
    const unknown = Object.keys(value).find((name) => !Object.hasOwn(fields, name));
    if (unknown !== undefined) return { path: [unknown], text: 'is not an option; remove it, or correct its name' };
    const given = Object.entries(fields).filter(([name]) => value[name] !== undefined || required.includes(name));
    return firstProblem(given.map(([name, check]) => [name, value[name], check]));
  };
}

function firstProblem(parts: readonly (readonly [name: string, value: unknown, check: Check])[]): Problem | undefined {
  for (const [name, value, check] of parts) {
    const problem = check(value);
    if (problem !== undefined) return { ...problem, path: [name, ...problem.path] };
  }
  return undefined;
}

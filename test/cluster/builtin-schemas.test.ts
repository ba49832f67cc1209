// The schemas and protobuf field numbers of the built-in kinds that the in-memory API server has: written from the
// OpenAPI document of a real kube-apiserver and from Kubernetes' .proto files, and compared with them on every run.
// After an upgrade of Kubernetes, `--update` rewrites them.
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import '../../tools/control-plane/global-setup.ts';
import { createWire } from '../conformance/wire.ts';

const groupKinds = [
  ...[
    'api/v1',
    'apis/apps/v1',
    'apis/discovery.k8s.io/v1',
    'apis/coordination.k8s.io/v1',
    'apis/autoscaling/v1',
    'apis/events.k8s.io/v1',
  ],
  ...['apis/batch/v1', 'apis/networking.k8s.io/v1', 'apis/autoscaling/v2', 'apis/policy/v1'],
  ...['apis/storage.k8s.io/v1', 'apis/scheduling.k8s.io/v1'],
  ...['apis/rbac.authorization.k8s.io/v1', 'apis/admissionregistration.k8s.io/v1', 'apis/apiextensions.k8s.io/v1'],
];
const coreKinds = [
  ...['Namespace', 'ConfigMap', 'Secret', 'Service', 'ServiceAccount', 'Event', 'Pod'],
  ...['PersistentVolumeClaim', 'PersistentVolume', 'Node', 'ResourceQuota', 'LimitRange'],
];
const rbacKinds = ['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding'];
const schemaKinds = [
  ...coreKinds.map((kind) => `io.k8s.api.core.v1.${kind}`),
  ...rbacKinds.map((kind) => `io.k8s.api.rbac.v1.${kind}`),
  ...['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet'].map((kind) => `io.k8s.api.apps.v1.${kind}`),
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicy',
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBinding',
  'io.k8s.api.autoscaling.v1.Scale',
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler',
  ...['Job', 'CronJob'].map((kind) => `io.k8s.api.batch.v1.${kind}`),
  ...['Ingress', 'IngressClass', 'NetworkPolicy'].map((kind) => `io.k8s.api.networking.v1.${kind}`),
  'io.k8s.api.policy.v1.PodDisruptionBudget',
  'io.k8s.api.storage.v1.StorageClass',
  'io.k8s.api.scheduling.v1.PriorityClass',
  'io.k8s.api.coordination.v1.Lease',
  'io.k8s.api.discovery.v1.EndpointSlice',
  'io.k8s.api.events.v1.Event',
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition',
  'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions',
];

// Omitted: descriptions (except a kind's first sentence, for `explain`), zero values as defaults, and fields that our
// server sets itself.
const omitted = ['x-kubernetes-group-version-kind', 'x-kubernetes-unions', 'x-kubernetes-patch-strategy'];
const protoModules = ['k8s.io/api', 'k8s.io/apimachinery'];

it('the schemas and field numbers of the built-in kinds are those of Kubernetes', async () => {
  const chosen = await chooseSchemas();
  const messages = fieldsOf(chosen);
  const names = [...new Set([...messages.keys(), ...chosen.keys()])].sort(byName);
  const lines = names.map((name) => {
    const fields = (messages.get(name) ?? []).map(
      ({ number, field, inlined }) => `${number}:${field}${inlined === undefined ? '' : `>${inlined}`}`,
    );
    const schema = inOrder(chosen.get(name), orderOf(messages, name));
    return `${[name, ...fields, ...(schema === undefined ? [] : [JSON.stringify(schema)])].join(' ')}\n`;
  });
  const file = '../../packages/apiserver/src/schema/builtin-schemas.txt';
  await expect(lines.join('')).toMatchFileSnapshot(file);
});

type ChosenSchema = { readonly properties?: Readonly<Record<string, unknown>> };

/** Returns the schemas of the kinds, and all referenced schemas, by name. */
async function chooseSchemas(): Promise<Map<string, ChosenSchema>> {
  const { url, ca, adminToken } = inject('controlPlane');
  const wire = createWire({ url, ca, token: adminToken });
  const published: Record<string, unknown> = {};
  for (const group of groupKinds) {
    const { text } = await wire.get(`/openapi/v3/${group}`);
    const { components }: { components: { schemas: Record<string, unknown> } } = JSON.parse(text);
    Object.assign(published, components.schemas);
  }
  const chosen = new Map<string, ChosenSchema>();
  const choose = (name: string): void => {
    if (chosen.has(name)) return;
    const schema = Object(reduceSchema(published[name], { kind: schemaKinds.includes(name) }));
    chosen.set(name, schema);
    for (const [, target] of JSON.stringify(schema).matchAll(/"\$ref":"([^"]+)"/g)) if (target) choose(target);
  };
  for (const kind of schemaKinds) choose(kind);
  return chosen;
}

function byName(a: string, b: string): number {
  return a < b ? -1 : 1;
}

/** A field of a message, and the message that is inlined in JSON. */
type Field = { readonly number: string; readonly field: string; readonly inlined?: string };
type Messages = ReadonlyMap<string, readonly Field[]>;

/** Returns the fields of every message of the schemas, and of messages that their fields inline. */
function fieldsOf(chosen: ReadonlyMap<string, ChosenSchema>): Messages {
  const messages = readMessages();
  const found = new Map<string, readonly Field[]>();
  const add = (name: string, schemaName: string): void => {
    const fields = messages.get(name);
    if (fields === undefined || found.has(name)) return;
    const { properties = {} } = chosen.get(schemaName) ?? {};
    const isInlined = ({ field, message }: ProtoField) => !Object.hasOwn(properties, field) && messages.has(message);
    found.set(
      name,
      fields.map((one) => ({ ...one, ...(isInlined(one) ? { inlined: one.message } : {}) })),
    );
    for (const one of fields.filter(isInlined)) add(one.message, schemaName);
  };
  for (const name of chosen.keys()) add(name, name);
  return found;
}

/** Returns the fields of a message in JSON, in the order of its Go type. */
function orderOf(messages: Messages, name: string): readonly string[] {
  return (messages.get(name) ?? []).flatMap(({ field, inlined }) =>
    inlined === undefined ? [field] : orderOf(messages, inlined),
  );
}

/** Returns a schema with its fields in this order, after the type. */
function inOrder(schema: ChosenSchema | undefined, fields: readonly string[]): ChosenSchema | undefined {
  if (schema?.properties === undefined) return schema;
  const { properties } = schema;
  const names = [...new Set(['kind', 'apiVersion', ...fields, ...Object.keys(properties)])];
  const ordered = names.filter((name) => Object.hasOwn(properties, name)).map((name) => [name, properties[name]]);
  return { ...schema, properties: Object.fromEntries(ordered) };
}

type ProtoField = {
  readonly number: string;
  readonly field: string;
  /** The name of its message, if it has one. */
  readonly message: string;
};

/** Reads the .proto files of Kubernetes' modules. */
function readMessages(): Map<string, readonly ProtoField[]> {
  const messages = new Map<string, readonly ProtoField[]>();
  for (const module of protoModules) {
    const cwd = join(import.meta.dirname, '../../tools/control-plane');
    const folder = execFileSync('go', ['list', '-m', '-f', '{{.Dir}}', module], { cwd, encoding: 'utf8' }).trim();
    for (const file of globSync('**/generated.proto', { cwd: folder })) {
      const text = readFileSync(join(folder, file), 'utf8');
      const packaged = openName(/^package ([\w.]+);/m.exec(text)?.[1] ?? '');
      for (const [, name = '', body = ''] of text.matchAll(/^message (\w+) \{\n(.*?)^\}/gms)) {
        const fields = [...body.matchAll(/^ {2}(?:optional|repeated|required)? ?([\w.<>, ]+) (\w+) = (\d+);/gm)];
        messages.set(
          `${packaged}.${name}`,
          fields.map(([, type = '', field = '', number = '']) => ({
            number,
            field,
            message: type.startsWith('.') ? openName(type.slice(1)) : `${packaged}.${type}`,
          })),
        );
      }
    }
  }
  return messages;
}

/** `k8s.io.api.core.v1` is `io.k8s.api.core.v1` in OpenAPI. */
function openName(name: string): string {
  return name.replace(/^k8s\.io\./, 'io.k8s.');
}

/**
 * Returns a schema without the parts that the in-memory server does not use. `names`: the keys are field names, not
 * keywords.
 */
function reduceSchema(value: unknown, { kind = false, names = false } = {}): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => reduceSchema(item));
  if (typeof value !== 'object' || value === null) return value;
  const entries: [string, unknown][] = Object.entries(value);
  if (names) return Object.fromEntries(entries.map(([key, field]) => [key, reduceSchema(field)]));
  const fields: Record<string, unknown> = {};
  for (const [key, field] of entries) {
    if (omitted.includes(key)) continue;
    if (key === 'description') {
      if (kind) fields[key] = String(field).split(/\.(?:\s|$)/)[0] + '.';
    } else if (key === '$ref') fields[key] = String(field).replace('#/components/schemas/', '');
    else if (key === 'allOf' && Array.isArray(field) && field.length === 1)
      Object.assign(fields, reduceSchema(field[0]));
    else if (key === 'default' && (field === '' || JSON.stringify(field) === '{}')) continue;
    else fields[key] = reduceSchema(field, { names: key === 'properties' });
  }
  return fields;
}

// What a cluster gets, as the files of one kustomize base: kinds, roles and policies of the registry, and the watcher.
// A project edits none of it: options, or an overlay of its own, say image, cluster and size. The manifests of the
// watcher are templates in infra/kubernetes/watcher.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { readYamlDocuments } from '@outrigger/common/yaml/read';
import { writeYaml } from '@outrigger/common/yaml/write';
import type { AnyCustomKind } from 'outrigger/internal/api/custom-kind';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import type { JsonObject } from 'outrigger/internal/core/json';
import { clusterNames } from 'outrigger/internal/core/names';
import { definitionsOf } from 'outrigger/internal/generate/definitions';
import { rbacOf } from 'outrigger/internal/generate/rbac/rbac';
import { watchListOf } from 'outrigger/internal/generate/watch-list';
import * as z from 'zod';
import { parametersOf } from '../aws/parameters.ts';
import { checkRegistry } from './check-registry.ts';
import { runtimeRoot } from './own-module.ts';
import { loadProject, type Project, readNamespaces, readProjectName } from './project.ts';
import { secondZodError } from './zod-copies.ts';
import { requireOneZod, ZodCopyError } from './zod-copy.ts';

/** What the manifests are made of. */
export type ManifestInput = Project & {
  readonly project: string;
  /** The only namespaces of the project; undefined: all. */
  readonly namespaces: readonly string[] | undefined;
};

/** What differs between clusters. */
export type ManifestOptions = {
  /** The repository and the digest of the watcher's image. */
  readonly image?: string;
  /** Settings of the watcher, such as CLUSTER. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The Secret with the credentials of the image's registry. */
  readonly imagePullSecret?: string;
  /** The AWS role of the watcher, by IRSA. */
  readonly roleArn?: string;
  readonly replicas?: number;
  /** The limit of its memory, such as 1Gi; half of it is requested. */
  readonly memory?: string;
  /** The fleet watcher in a management cluster: it watches other clusters, and needs nothing of its own. */
  readonly fleet?: boolean;
};

const header = '# Written by outrigger manifests; change an overlay, not this.\n';
/** Has no header: it is JSON. */
const watchListName = 'watch-list.json';

/** Whether `outrigger manifests` has written a file. Any other one in its folder is somebody else's. */
export function isManifestFile(name: string, text: string): boolean {
  return name === watchListName || text.startsWith(header);
}

const templates = path.join(runtimeRoot, 'infra/kubernetes/watcher');

/** Reads what the manifests of a folder are made of. Throws UserError. */
export async function readManifestInput(root: string): Promise<ManifestInput> {
  const loaded = await loadProject(root);
  return { ...loaded, project: await readProjectName(root), namespaces: await readNamespaces(root) };
}

/** Makes the files of the base of a folder, by name. Throws UserError, and SchemaError for an invalid registry. */
export async function projectManifests(
  root: string,
  input: ManifestInput,
  options?: ManifestOptions,
): Promise<ReadonlyMap<string, string>> {
  try {
    return await manifestFiles(input, options);
  } catch (error) {
    throw error instanceof ZodCopyError ? await secondZodError(error.message, root) : error;
  }
}

/**
 * Makes all files, by name. Throws SchemaError for an invalid registry.
 * @param kinds the kinds without a controller: each gets only a CRD
 * @param namespaces the only namespaces of the project; absent: all
 */
export function generatedFiles(
  registry: readonly ControllerDefinition[],
  kinds: readonly AnyCustomKind[] = [],
  project?: string,
  namespaces?: readonly string[],
): ReadonlyMap<string, string> {
  requireOneZod(registry, kinds);
  checkRegistry(registry, project, namespaces);
  parametersOf(registry);
  const watchList = watchListOf(registry, project, namespaces);
  return new Map([
    ...definitionsOf(registry, kinds).map(([name, crd]) => [`crd-${name}.yaml`, writeYaml([crd])] as const),
    ['rbac.yaml', writeYaml(rbacOf(registry, watchList))],
    // For the watcher's bundle, and for commands that need only the names of the controllers.
    [watchListName, `${JSON.stringify(watchList, undefined, 2)}\n`],
  ]);
}

/** Makes the files of the base, by name. Throws SchemaError for an invalid registry. */
export async function manifestFiles(
  { registry, crdsOnly, project, namespaces }: ManifestInput,
  options: ManifestOptions = {},
): Promise<ReadonlyMap<string, string>> {
  const { image, settings = {}, fleet = false } = options;
  const names = clusterNames(project);
  const generated = generatedFiles(registry, crdsOnly, project, namespaces);
  const files = fleet ? new Map([['namespace.yaml', writeYaml(fleetNamespace(project))]]) : new Map(generated);
  for (const name of (await readdir(templates)).toSorted())
    files.set(name, renamed(await readFile(path.join(templates, name), 'utf8'), project));
  for (const [name, text] of files) if (name.endsWith('.yaml')) files.set(name, header + withOptions(text, options));
  const [newName, digest] = image?.split('@') ?? [];
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [...files.keys()].filter((name) => name.endsWith('.yaml')),
    // The name has a hash of the content, so that a change of the content restarts the watchers.
    configMapGenerator: [
      {
        name: names.watcher,
        namespace: names.namespace,
        literals: Object.entries(settings).map(([name, value]) => `${name}=${value}`),
      },
    ],
    ...(newName === undefined || digest === undefined ? {} : { images: [{ name: names.watcher, newName, digest }] }),
  };
  return new Map([...files, ['kustomization.yaml', header + writeYaml([kustomization])]]);
}

const metadata = z.looseObject({ annotations: z.record(z.string(), z.string()).optional() });
const account = z.looseObject({ kind: z.literal('ServiceAccount'), metadata });
const pod = z.looseObject({ containers: z.tuple([z.looseObject({ resources: z.looseObject({}) })]) });
const deployment = z.looseObject({
  kind: z.literal('Deployment'),
  spec: z.looseObject({ template: z.looseObject({ spec: pod }) }),
});
const egress = z.looseObject({ ports: z.array(z.looseObject({ port: z.unknown() })) });
const policy = z.looseObject({
  kind: z.literal('NetworkPolicy'),
  spec: z.looseObject({ egress: z.array(egress) }),
});

/** Applies the options to the objects of a file. A file without a change keeps its comments. */
function withOptions(text: string, options: ManifestOptions): string {
  const { imagePullSecret, roleArn, replicas, memory, fleet = false } = options;
  const before = readYamlDocuments(text);
  const after = before.map((one) => {
    const forAccount = account.safeParse(one).data;
    if (forAccount !== undefined && roleArn !== undefined) {
      const annotations = { ...forAccount.metadata.annotations, 'eks.amazonaws.com/role-arn': roleArn };
      return { ...forAccount, metadata: { ...forAccount.metadata, annotations } };
    }
    const watcher = deployment.safeParse(one).data;
    const limit = memory ?? (fleet ? '1Gi' : undefined);
    if (watcher !== undefined && (replicas ?? limit ?? imagePullSecret) !== undefined) {
      const { template } = watcher.spec;
      const [container] = template.spec.containers;
      const requests = { cpu: fleet ? '100m' : '50m', memory: limit === undefined ? '256Mi' : half(limit) };
      const resources = limit === undefined ? container.resources : { requests, limits: { memory: limit } };
      const spec = {
        ...template.spec,
        // It does not use the API of its own cluster, so the pod has no token for it.
        ...(fleet ? { automountServiceAccountToken: false } : {}),
        ...(imagePullSecret === undefined ? {} : { imagePullSecrets: [{ name: imagePullSecret }] }),
        containers: [{ ...container, resources }],
      };
      const changed = { ...watcher.spec, ...(replicas === undefined ? {} : { replicas }) };
      return { ...watcher, spec: { ...changed, template: { ...template, spec } } };
    }
    const network = fleet ? policy.safeParse(one).data : undefined;
    if (network === undefined) return one;
    // API servers of other clusters have any port.
    const anyPort = network.spec.egress.map((rule) =>
      rule.ports.some(({ port }) => port === 443) ? { ...rule, ports: [{ protocol: 'TCP' }] } : rule,
    );
    return { ...network, spec: { ...network.spec, egress: anyPort } };
  });
  return after.every((one, index) => one === before[index]) ? text : writeYaml(after);
}

/** Half of an amount of memory: 512Mi of 1Gi. */
function half(memory: string): string {
  const [, number = '', unit = ''] = /^(\d+)([MG])i$/.exec(memory) ?? [];
  return `${(Number(number) * (unit === 'G' ? 1_024 : 1)) / 2}Mi`;
}

/** Only pods without privileges run in the namespace of the fleet watcher. */
function fleetNamespace(project: string): readonly JsonObject[] {
  const { namespace, watcher } = clusterNames(project);
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: watcher, namespace } },
  ];
}

/** Gives the watcher's manifests the names of a project. */
function renamed(text: string, project: string): string {
  const names = clusterNames(project);
  return text
    .replaceAll('outrigger-system', names.namespace)
    .replaceAll('outrigger-watcher', names.watcher)
    .replaceAll('outrigger:resync', names.resyncIdentity)
    .replaceAll('outrigger:watcher', names.watcherIdentity)
    .replaceAll(/name: outrigger$/gm, `name: ${names.flowSchema}`);
}

// `outrigger build --chart`: a Helm chart of what a cluster gets, from the manifests of the build. It has the same
// objects as `kubectl apply -k dist/kubernetes`. Values replace what options of `outrigger manifests` set.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readYamlDocuments } from '@outrigger/common/yaml/read';
import { Verbatim, writeYaml } from '@outrigger/common/yaml/write';
import { UserError } from 'outrigger/internal/core/errors';
import { watcherNames } from 'outrigger/internal/settings';
import * as z from 'zod';
import { ofOthers } from '../aws/parameters.ts';
import { manifestsFolder } from '../project/list-controllers.ts';

/** The folder of the chart, in the project. */
export const chartFolder = 'dist/chart';

/** Helm deletes the objects of an uninstalled chart. With a CRD it would delete every object of that kind. */
const keep = { 'helm.sh/resource-policy': 'keep' };
const keptKinds = new Set(['CustomResourceDefinition', 'Namespace']);

const annotated = z.looseObject({ annotations: z.record(z.string(), z.unknown()).optional() });
const object = z.looseObject({ kind: z.string(), metadata: annotated });
const container = z.looseObject({
  resources: z.unknown().optional(),
  envFrom: z.tuple([z.looseObject({ configMapRef: z.object({ name: z.string() }).optional() })]),
});
const deployment = z.looseObject({
  metadata: z.looseObject({ namespace: z.string().optional() }),
  spec: z.looseObject({
    replicas: z.number().optional(),
    template: z.looseObject({
      metadata: annotated.optional(),
      spec: z.looseObject({ containers: z.tuple([container]) }),
    }),
  }),
});
type Deployment = z.output<typeof deployment>;

/** The name and the version of a chart. */
export type ChartInput = { readonly name: string; readonly version: string };

/**
 * Returns the files of the chart, as text by path. `sources` are the manifests of a project, as text by name. Throws
 * UserError if there is no watcher. Pure.
 */
export function chartFiles(
  sources: ReadonlyMap<string, string>,
  { name, version }: ChartInput,
): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  let values: Readonly<Record<string, unknown>> | undefined;
  for (const [file, text] of sources) {
    const documents = readYamlDocuments(text).map((document) => {
      const { metadata, ...rest } = object.parse(document);
      if (keptKinds.has(rest.kind)) {
        return { ...rest, metadata: { ...metadata, annotations: { ...metadata.annotations, ...keep } } };
      }
      if (rest.kind === 'ServiceAccount') return { ...rest, metadata: { ...metadata, annotations: accountValue } };
      if (rest.kind !== 'Deployment') return document;
      const watcher = deployment.parse(document);
      const { replicas, template } = watcher.spec;
      values = { replicas, resources: template.spec.containers[0].resources };
      files.set('templates/settings.yaml', settingsTemplate(watcher));
      return withValues(watcher);
    });
    files.set(`templates/${path.basename(file)}`, writeYaml(documents, escapeHelm));
  }
  if (values === undefined) throw new UserError('the manifests have no Deployment');
  files.set('Chart.yaml', writeYaml([{ apiVersion: 'v2', name, version, description: `The watcher of ${name}.` }]));
  const all = { image: '', imagePullSecrets: [], ...values, serviceAccount, settings };
  files.set('values.yaml', valuesHead + writeYaml([all]));
  files.set('values.schema.json', `${JSON.stringify(valuesSchema(Object.keys(all)), undefined, 2)}\n`);
  return files;
}

const serviceAccount = { annotations: {} };
const settings = { CLUSTER: '', AWS_REGION: '', QUEUE_URL_PREFIX: '' };
const valuesHead = `# image: the repository and the digest of the watcher (REPOSITORY@sha256:DIGEST)
# imagePullSecrets: Secrets of a private registry (- name: NAME), in the namespace of the watcher.
# serviceAccount.annotations: the AWS role of the watcher, with IRSA (eks.amazonaws.com/role-arn).
# settings: the settings of the watcher (docs/settings.md); these are needed.
`;

/** What Helm refuses by name: a value that the chart does not read, and a setting that the watcher does not have. */
function valuesSchema(values: readonly string[]): object {
  const anyOf = (names: Iterable<string>) => Object.fromEntries([...names].map((name) => [name, {}]));
  const patternProperties = anyOf(ofOthers.map(({ source }) => source));
  const ofWatcher = { properties: anyOf(watcherNames()), patternProperties, additionalProperties: false };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    // A chart that has this one as a part gives it `global`, and its condition, which is `enabled` by custom.
    properties: { ...anyOf([...values, 'global', 'enabled']), settings: { type: 'object', ...ofWatcher } },
    additionalProperties: false,
  };
}

const accountValue = new Verbatim('{{- toYaml .Values.serviceAccount.annotations | nindent 4 }}');

/** The Deployment with Helm's values. A change of the settings restarts the watchers. */
function withValues({ spec, ...rest }: Deployment): object {
  const { metadata, spec: pod, ...template } = spec.template;
  const checksum = new Verbatim(`'{{ toJson .Values.settings | sha256sum }}'`);
  const watcher = {
    ...pod.containers[0],
    image: new Verbatim('{{ required "image: the repository and the digest of the watcher" .Values.image | quote }}'),
    resources: new Verbatim('{{- toYaml .Values.resources | nindent 12 }}'),
  };
  const pulls = new Verbatim('{{- toYaml .Values.imagePullSecrets | nindent 8 }}');
  return {
    ...rest,
    spec: {
      ...spec,
      replicas: new Verbatim('{{ .Values.replicas }}'),
      template: {
        ...template,
        metadata: { ...metadata, annotations: { ...metadata?.annotations, 'checksum/settings': checksum } },
        spec: { ...pod, imagePullSecrets: pulls, containers: [watcher] },
      },
    },
  };
}

function settingsTemplate({ metadata: { namespace }, spec }: Deployment): string {
  const name = spec.template.spec.containers[0].envFrom[0].configMapRef?.name;
  const head = writeYaml([{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } }], escapeHelm);
  return `${head}data:
  {{- range $name, $value := .Values.settings }}
  {{ $name }}: {{ $value | quote }}
  {{- end }}
`;
}

/** Helm reads a file as a template before it is YAML. */
function escapeHelm(written: string): string {
  return written.replaceAll('{{', '{{ "{{" }}');
}

/** Writes the chart of the manifests that were built. */
export async function writeChart(root: string, input: ChartInput): Promise<void> {
  const folder = path.join(root, manifestsFolder);
  const sources = new Map<string, string>();
  for (const name of (await readdir(folder)).toSorted())
    if (name.endsWith('.yaml') && name !== 'kustomization.yaml')
      sources.set(name, await readFile(path.join(folder, name), 'utf8'));
  await rm(path.join(root, chartFolder), { recursive: true, force: true });
  for (const [file, text] of chartFiles(sources, input)) {
    const target = path.join(root, chartFolder, file);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, text);
  }
}

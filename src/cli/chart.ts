// `outrigger build --chart`: a Helm chart of what a cluster gets, from the manifests of the project. It has the same
// objects as `kubectl apply -k infra/kubernetes`. Values replace what kustomization.yaml and watcher.env set.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Document, isMap, parseAllDocuments, stringify } from 'yaml';
import { UserError } from '../core/errors.ts';

/** The folder of the chart, in the project. */
export const chartFolder = 'dist/chart';
const manifests = 'infra/kubernetes';

/** Each placeholder is a scalar while the manifest is YAML, and then becomes Helm's own text. */
const placeholders = {
  REPLICAS_VALUE: '{{ .Values.replicas }}',
  RESOURCES_VALUE: '{{- toYaml .Values.resources | nindent 12 }}',
  ACCOUNT_VALUE: '{{- toYaml .Values.serviceAccount.annotations | nindent 4 }}',
  IMAGE_VALUE: `'{{ required "image: the repository and the digest of the watcher" .Values.image }}'`,
  CHECKSUM_VALUE: `'{{ toJson .Values.settings | sha256sum }}'`,
};
type Placeholder = keyof typeof placeholders;
const placeholder = (name: Placeholder): Placeholder => name;

/** Helm deletes the objects of an uninstalled chart. With a CRD it would delete every object of that kind. */
const keep = { 'helm.sh/resource-policy': 'keep' };
const keptKinds = new Set(['CustomResourceDefinition', 'Namespace']);

const settingsTemplate = (metadata: unknown) => `apiVersion: v1
kind: ConfigMap
${stringify({ metadata })}data:
  {{- range $name, $value := .Values.settings }}
  {{ $name }}: {{ $value | quote }}
  {{- end }}
`;

/** The name and the version of a chart. */
export type ChartInput = { readonly name: string; readonly version: string };

/**
 * Returns the files of the chart, as text by path. `sources` are the manifests of a project, as text by path: those of
 * the watcher, the generated ones, and `watcher.env`. Throws UserError if there is no watcher. Pure.
 */
export function chartFiles(
  sources: ReadonlyMap<string, string>,
  { name, version }: ChartInput,
): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  let values: Readonly<Record<string, unknown>> | undefined;
  for (const [file, text] of sources) {
    if (!file.endsWith('.yaml')) continue;
    const documents = parseAllDocuments(text).map((document) => {
      const kind = document.get('kind');
      if (keptKinds.has(String(kind))) annotate(document, keep);
      if (kind === 'ServiceAccount') document.setIn(['metadata', 'annotations'], placeholder('ACCOUNT_VALUE'));
      if (kind === 'Deployment') {
        values = valuesOf(document);
        files.set('templates/settings.yaml', settingsTemplate(settingsMetadata(document)));
        useValues(document);
      }
      return document.toString({ lineWidth: 0 });
    });
    files.set(`templates/${path.basename(file)}`, fill(documents.join('---\n')));
  }
  if (values === undefined) throw new UserError(`${manifests}/watcher has no Deployment`);
  const settings = parseVariables(sources.get('watcher.env') ?? '');
  files.set('Chart.yaml', stringify({ apiVersion: 'v2', name, version, description: `The watcher of ${name}.` }));
  files.set('values.yaml', valuesHead + stringify({ image: '', ...values, serviceAccount, settings }));
  return files;
}

const serviceAccount = { annotations: {} };
const valuesHead = `# image: the repository and the digest of the watcher (REPOSITORY@sha256:DIGEST)
# serviceAccount.annotations: the AWS role of the watcher, with IRSA (eks.amazonaws.com/role-arn).
# settings: the settings of the watcher; those of watcher.env when the chart was built.
`;

const container = ['spec', 'template', 'spec', 'containers', 0];

function valuesOf(deployment: Document): Readonly<Record<string, unknown>> {
  const { spec } = deployment.toJS();
  return { replicas: spec.replicas, resources: spec.template.spec.containers[0].resources };
}

function settingsMetadata(deployment: Document): unknown {
  const name = deployment.getIn([...container, 'envFrom', 0, 'configMapRef', 'name']);
  return { name, namespace: deployment.getIn(['metadata', 'namespace']) };
}

function useValues(deployment: Document): void {
  deployment.setIn(['spec', 'replicas'], placeholder('REPLICAS_VALUE'));
  deployment.setIn([...container, 'image'], placeholder('IMAGE_VALUE'));
  deployment.setIn([...container, 'resources'], placeholder('RESOURCES_VALUE'));
  // A change of the settings restarts the watchers.
  deployment.setIn(['spec', 'template', 'metadata', 'annotations', 'checksum/settings'], placeholder('CHECKSUM_VALUE'));
}

function annotate(document: Document, annotations: Readonly<Record<string, string>>): void {
  if (!isMap(document.getIn(['metadata', 'annotations'])))
    document.setIn(['metadata', 'annotations'], document.createNode({}));
  for (const [name, value] of Object.entries(annotations)) document.setIn(['metadata', 'annotations', name], value);
}

/** Escapes the text that Helm would read as a template, and inserts the values. */
function fill(text: string): string {
  const escaped = text.replaceAll('{{', '{{ "{{" }}');
  return Object.entries(placeholders).reduce((filled, [name, value]) => filled.replaceAll(name, value), escaped);
}

/** Parses a file of variables, as kustomize does. */
function parseVariables(text: string): Readonly<Record<string, string>> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

/** Reads the manifests of a project, and writes its chart. */
export async function writeChart(root: string, input: ChartInput): Promise<void> {
  const sources = new Map<string, string>();
  for (const folder of ['generated', 'watcher']) {
    for (const name of (await readdir(path.join(root, manifests, folder))).toSorted()) {
      if (!name.endsWith('.yaml') || name === 'kustomization.yaml') continue;
      sources.set(`${folder}/${name}`, await readFile(path.join(root, manifests, folder, name), 'utf8'));
    }
  }
  sources.set('watcher.env', await readFile(path.join(root, manifests, 'watcher.env'), 'utf8'));
  await rm(path.join(root, chartFolder), { recursive: true, force: true });
  for (const [file, text] of chartFiles(sources, input)) {
    const target = path.join(root, chartFolder, file);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, text);
  }
}

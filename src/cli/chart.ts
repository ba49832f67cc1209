// `outrigger build --chart`: a Helm chart of what a cluster gets, from the manifests of the project. It has the same
// objects as `kubectl apply -k infra/kubernetes`. Values replace what kustomization.yaml and watcher.env set.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readYamlDocuments } from '@outrigger/common/yaml/read';
import { Verbatim, writeYaml } from '@outrigger/common/yaml/write';
import * as z from 'zod';
import { UserError } from '../core/errors.ts';

/** The folder of the chart, in the project. */
export const chartFolder = 'dist/chart';
const manifests = 'infra/kubernetes';

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
  if (values === undefined) throw new UserError(`${manifests}/watcher has no Deployment`);
  const settings = parseVariables(sources.get('watcher.env') ?? '');
  files.set('Chart.yaml', writeYaml([{ apiVersion: 'v2', name, version, description: `The watcher of ${name}.` }]));
  files.set('values.yaml', valuesHead + writeYaml([{ image: '', ...values, serviceAccount, settings }]));
  return files;
}

const serviceAccount = { annotations: {} };
const valuesHead = `# image: the repository and the digest of the watcher (REPOSITORY@sha256:DIGEST)
# serviceAccount.annotations: the AWS role of the watcher, with IRSA (eks.amazonaws.com/role-arn).
# settings: the settings of the watcher; those of watcher.env when the chart was built.
`;

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
  return {
    ...rest,
    spec: {
      ...spec,
      replicas: new Verbatim('{{ .Values.replicas }}'),
      template: {
        ...template,
        metadata: { ...metadata, annotations: { ...metadata?.annotations, 'checksum/settings': checksum } },
        spec: { ...pod, containers: [watcher] },
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

/** Parses a file of variables, as kustomize does (kv.go): a line without = is a variable without a value. */
function parseVariables(text: string): Readonly<Record<string, string>> {
  const lines = text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .map((line) => line.trimStart());
  const variables = lines.filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(variables.map((line) => [line.replace(/=.*$/s, ''), line.replace(/^[^=]*=?/, '')]));
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

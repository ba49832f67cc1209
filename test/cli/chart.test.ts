// Only the texts of the Helm chart. That Helm and an API server accept it is tested in test/cluster/chart.test.ts.

import { chartFiles } from '@outrigger/cli/commands/chart';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';

const deployment = `kind: Deployment
metadata: { name: w, namespace: s }
spec: { replicas: 2, template: { metadata: {}, spec: { containers: [{ image: w, resources: {}, envFrom: [{ configMapRef: { name: settings } }] }] } } }
`;
const names = z.record(z.string(), z.unknown());
const shape = z.object({ properties: names, patternProperties: names.default({}), additionalProperties: z.boolean() });
const input = { name: 'w', version: '1.0.0' };

it('a text that Helm would read as a template is escaped', () => {
  const crd = 'kind: CustomResourceDefinition\nmetadata: { name: c }\nspec: { description: "write {{ name }}" }\n';
  const sources = new Map([
    ['watcher/deployment.yaml', deployment],
    ['generated/crd-c.yaml', crd],
  ]);
  const text = chartFiles(sources, input).get('templates/crd-c.yaml');
  expect(text).toContain('write {{ "{{" }} name }}');
  expect(text).toContain('helm.sh/resource-policy: keep');
});

it('the Secrets of a private registry are a value of the chart, which is empty', () => {
  const files = chartFiles(new Map([['watcher/deployment.yaml', deployment]]), input);
  expect(files.get('values.yaml')).toContain('\nimagePullSecrets: []\n');
  expect(files.get('templates/deployment.yaml')).toContain('imagePullSecrets: {{- toYaml .Values.imagePullSecrets');
});

it('a project without a watcher has no chart', () => {
  expect(() => chartFiles(new Map(), input)).toThrow('the manifests have no Deployment');
});

it('the schema of the chart has every value and every setting of a watcher, and no other', () => {
  const files = chartFiles(new Map([['watcher/deployment.yaml', deployment]]), input);
  const { properties, additionalProperties } = shape.parse(JSON.parse(files.get('values.schema.json') ?? ''));
  const unknown = Object.keys(parse(files.get('values.yaml') ?? '')).filter((name) => !(name in properties));
  expect([unknown, additionalProperties]).toEqual([[], false]);
  // Helm, "Subcharts and Global Values" and "Tags and Condition fields": what a chart gives to a part of it.
  expect(properties).toMatchObject({ global: {}, enabled: {} });
  const settings = shape.parse(properties.settings);
  expect(Object.keys(settings.properties)).toEqual(expect.arrayContaining(['CLUSTER', 'RATE_LIMIT_BURST']));
  const isKnown = (name: string) =>
    name in settings.properties ||
    Object.keys(settings.patternProperties).some((names) => new RegExp(names).test(name));
  expect(['AWS_REGION', 'OTEL_RESOURCE_ATTRIBUTES', 'CLUSTERR'].filter(isKnown)).toHaveLength(2);
  expect(settings.additionalProperties).toBe(false);
});

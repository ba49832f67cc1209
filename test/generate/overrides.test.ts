// The examples of docs/run and docs/options.md that change what is deployed: each arrives in the template that osls
// packages, in the program of a function, or in the manifests of a cluster. That kubectl accepts the manifests is
// test/cluster/watcher-deployment.test.ts.
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { entriesOf } from '@outrigger/cli/project/entries';
import { readYamlDocuments } from '@outrigger/common/yaml/read';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { registry } from '../../src/controllers/registry.ts';
import { readWatcherSettings } from '../../src/settings.ts';
import { sampleBase } from '../support/sample-manifests.ts';
import { serviceFolder } from '../support/service-folder.ts';
import { packageTemplate } from './package-template.ts';

const resource = z.looseObject({ Properties: z.record(z.string(), z.unknown()) });
const template = z.object({
  Resources: z.record(z.string(), resource),
});
const withText = z.record(z.string(), z.unknown());

const pages = ['run/change-what-is-deployed', 'run/gitops', 'run/networking'].map((page) =>
  readFileSync(`docs/${page}.md`, 'utf8'),
);

/** The block of the pages that has this text. */
function blockWith(text: string, language = 'yaml'): string {
  const blocks = [...pages.join('').matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))];
  const [block, ...more] = blocks.map(([, one = '']) => one).filter((one) => one.includes(text));
  if (block === undefined || more.length > 0) throw new Error(`${more.length} more blocks have ${text}`);
  return block;
}

async function packaged(stage: string, more: string): Promise<z.output<typeof template>> {
  return template.parse(JSON.parse(await packageTemplate(stage, [], { more })));
}

it('a parameter, a property of a function, an extension and a resource of the documents are in the template', async () => {
  const { Resources } = await packaged('prod', blockWith('WATER_TANK_CONCURRENCY'));
  expect(Resources.AlarmTopic).toBeUndefined();
  const topic = 'arn:aws:sns:us-east-1:123456789012:pager';
  expect(Resources.WaterTankErrorsAlarm?.Properties).toMatchObject({ AlarmActions: [topic], OKActions: [topic] });
  expect(Resources.WaterTankLogGroup?.Properties.RetentionInDays).toBe(90);
  const [mapping] = Object.values(Resources).filter(
    ({ Type, Properties }) =>
      Type === 'AWS::Lambda::EventSourceMapping' && JSON.stringify(Properties).includes('WaterTank'),
  );
  expect(mapping?.Properties.ScalingConfig).toEqual({ MaximumConcurrency: 20 });

  const layered = await packaged('dev', blockWith('layers'));
  expect(layered.Resources.WaterTankLambdaFunction?.Properties.Layers).toHaveLength(1);

  const extended = await packaged('dev', blockWith('extensions'));
  expect(extended.Resources.WaterTankQueue?.Properties).toMatchObject({ Tags: [{ Key: 'tier', Value: 'gold' }] });
  expect(extended.Resources.WaterTankQueue?.Properties.FifoQueue).toBe(true);

  const own = await packaged('dev', blockWith('Pager'));
  expect(own.Resources.Pager?.Properties.TopicArn).toEqual({ Ref: 'AlarmTopic' });
  expect(own.Resources.AlarmTopic).toBeDefined();

  const inside = await packaged('prod', blockWith('VPC_SUBNET_IDS'));
  expect(inside.Resources.WaterTankLambdaFunction?.Properties.VpcConfig).toEqual({
    SubnetIds: ['subnet-0a1b2c3d', 'subnet-4e5f6a7b'],
    SecurityGroupIds: ['sg-0a1b2c3d'],
  });
}, 240_000);

it('a function of the author is deployed beside those of the controllers, and a file takes the place of a program', async () => {
  const service = await serviceFolder();
  onTestFinished(service.remove);
  for (const { name } of registry) {
    const file = `src/controllers/${name}.ts`;
    await writeFile(path.join(service.folder, file), `export * from ${JSON.stringify(path.resolve(file))};\n`);
  }
  await mkdir(path.join(service.folder, 'functions'));
  const program = blockWith('createReconcileHandler', 'ts')
    .replace("'outrigger/lambda'", JSON.stringify(path.resolve('src/lambda.ts')))
    .replace("'../src/controllers/water-tank.ts'", JSON.stringify(path.resolve('src/controllers/water-tank.ts')));
  await writeFile(path.join(service.folder, 'functions/water-tank.ts'), program);
  await writeFile(path.join(service.folder, 'functions/report.ts'), 'export const handler = () => 1;\n');
  const { functions } = await entriesOf(service.folder);
  expect(functions['water-tank']).toBe("export * from './functions/water-tank.ts';");
  expect(functions.report).toBe("export * from './functions/report.ts';");
  expect(functions.dinner).toContain('createReconcileHandler');
  const { handler } = await import(pathToFileURL(path.join(service.folder, 'functions/water-tank.ts')).href);
  expect(handler).toBeTypeOf('function');

  await mkdir(path.join(service.folder, 'dist/report'), { recursive: true });
  await writeFile(path.join(service.folder, 'dist/report/index.mjs'), 'export const handler = () => 1;\n');
  await service.extend(blockWith('report:'));
  const { status, output } = await service.osls(['package', '--stage', 'dev']);
  expect(status, output).toBe(0);
  const { Resources } = template.parse(JSON.parse(await service.template()));
  expect(Resources.ReportLambdaFunction?.Properties.Handler).toBe('dist/report/index.handler');
  expect(Resources.DinnerLambdaFunction).toBeDefined();
}, 120_000);

it('the overlay of the documents changes the settings and the image of the base, and Argo CD and Flux read its folder', async () => {
  const base = await sampleBase();
  const named = z.looseObject({ name: z.string(), namespace: z.string() });
  const kustomization = z.looseObject({ configMapGenerator: z.tuple([named]), images: z.array(withText).optional() });
  const read = (text: string) => kustomization.parse(readYamlDocuments(text)[0]);
  const overlay = read(blockWith('behavior: merge'));
  const [generator] = read(base.get('kustomization.yaml') ?? '').configMapGenerator;
  expect(overlay.configMapGenerator[0]).toMatchObject({ name: generator.name, namespace: generator.namespace });
  const literals = z.array(z.string()).parse(overlay.configMapGenerator[0].literals);
  const { AWS_REGION: region = '', ...settings } = Object.fromEntries(literals.map((one) => one.split(/=(.*)/s)));
  expect(readWatcherSettings(settings)).toMatchObject({ CLUSTER: 'prod-1' });
  expect(settings.QUEUE_URL_PREFIX).toContain(`//sqs.${region}.`);
  expect(base.get('deployment.yaml')).toContain(`image: ${overlay.images?.[0]?.name}\n`);

  const [, folder] = /`(k8s\/[\w-]+)\/kustomization\.yaml`/.exec(pages.join('')) ?? [];
  for (const kind of ['kind: Application', 'sourceRef'])
    expect(blockWith(kind)).toMatch(new RegExp(`path: (\\./)?${folder}\\b`));
});

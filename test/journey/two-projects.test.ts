// Only two projects in one cluster and one account of SQS, in the same stage, whose controllers have the same name: both
// work, and one goes without the other. test/reconciling has what they leave on one object, test/deploy what osls deploys.
import { cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ListQueuesCommand } from '@aws-sdk/client-sqs';
import { startApiServer } from '@outrigger/apiserver';
import { createLocalSqsClient, startSqs } from '@outrigger/cli/dev/sqs-server';
import { expect, it, onTestFinished } from 'vitest';
import { installPackage } from '../../tools/troubleshooting/project.ts';
import { startDev, succeed } from '../../tools/troubleshooting/run-dev.ts';
import { temporaryFolder } from '../support/folder.ts';

const names = ['bakery', 'shop'] as const;
const mergePatch = { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' } };

it(
  'two projects share cluster, account and stage; one is removed, and the other works on',
  { timeout: 400_000 },
  async () => {
    const folder = temporaryFolder();
    const server = await startApiServer();
    onTestFinished(() => server.close());
    const kubeconfig = path.join(folder, 'kubeconfig');
    await writeFile(kubeconfig, server.kubeconfig());
    const sqs = await startSqs({ port: 0, allowedHosts: [] });
    onTestFinished(() => sqs.close());

    const installed = await installPackage();
    onTestFinished(installed.remove);
    const start = async (name: string) => {
      const project = {
        folder: path.join(folder, name),
        program: path.join(folder, name, 'node_modules/@outrigger/cli/bin/outrigger.js'),
      };
      await cp(installed.folder, project.folder, { recursive: true, verbatimSymlinks: true });
      await succeed(project, 'new', 'project', '--yes', '--name', name);
      await succeed(project, 'new', 'controller', 'Kettle', '--group', `${name}.example.com`);
      const sample = path.join(project.folder, 'samples/kettle.yaml');
      await writeFile(sample, (await readFile(sample, 'utf8')).replaceAll('my-kettle', name));
      const options = ['--apply', 'samples', '--kubeconfig', kubeconfig, '--queue-endpoint', sqs.endpoint];
      const dev = startDev(project, ...options, '--cleanup');
      onTestFinished(() => dev.stop());
      await dev.until(new RegExp(`status +kettle/${name} .*Ready$`));
      return dev;
    };
    const kettle = (name: string) => `${server.url}/apis/${name}.example.com/v1/namespaces/default/kettles/${name}`;
    const statusOf = async (name: string) => (await fetch(kettle(name))).status;
    const bakery = await start('bakery');
    const shop = await start('shop');
    expect(await Promise.all(names.map(statusOf))).toEqual([200, 200]);
    const client = createLocalSqsClient(sqs.endpoint);
    onTestFinished(() => client.destroy());
    const { QueueUrls = [] } = await client.send(new ListQueuesCommand({ MaxResults: 1000 }));
    const queues = QueueUrls.map((url) => url.split('/').at(-1) ?? '');
    for (const name of names)
      expect(queues.filter((queue) => queue.startsWith(`${name}-`))).toHaveLength(queues.length / 2);

    await bakery.stop();
    expect(await Promise.all(names.map(statusOf))).toEqual([404, 200]);
    const definitions = `${server.url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`;
    expect((await fetch(`${definitions}/kettles.bakery.example.com`)).status).toBe(404);
    const mark = shop.mark();
    await fetch(kettle('shop'), { ...mergePatch, body: JSON.stringify({ spec: { text: 'tea', times: 3 } }) });
    await shop.until(/status +kettle\/shop +characters 9, Ready$/, mark);
  },
);

// The console of a real `outrigger dev` in a real browser: the URL that the command prints, the flow, the tree, the way of
// a change to its status, every fault, and the pictures of the documents. One system for all, as its start takes longest.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { openCluster } from '@outrigger/cli/dev/cluster-access';
import { createLocalSqsClient } from '@outrigger/cli/dev/sqs-server';
import { readStateFile } from '@outrigger/cli/dev/state-file';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WaterTank } from '../../../src/controllers/water-tank.ts';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { objectPath } from '../../../src/kube/client/path.ts';
import { localPictures, pictureOptions, takeLocalPictures } from '../screenshots.ts';
import { eventually, openPage, startBrowser } from './chromium.ts';
import { type DevProcess, startDevProcess } from './dev-process.ts';
import { expectPicture } from './expect-picture.ts';

const startSeconds = 300;
const parts = new AsyncDisposableStack();
let browser: Browser;
let dev: DevProcess;
let page: Page;
let problems: readonly string[];
let client: KubeClient;

beforeAll(async () => {
  browser = await startBrowser();
  parts.defer(() => browser.close());
  dev = parts.use(await startDevProcess(pictureOptions));
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-console-'));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const signal = AbortSignal.timeout(startSeconds * 1000);
  const cluster = await openCluster(folder, { file: dev.kubeconfig, signal });
  parts.defer(() => cluster.close());
  client = cluster.client;
  ({ page, problems } = await openPage(browser, dev.url));
}, startSeconds * 1000);
afterAll(() => parts.disposeAsync(), 90_000);

const setLevel = async (targetLevel: number) =>
  await client.request({
    method: 'PATCH',
    path: objectPath(WaterTank, { namespace: 'default', name: 'south' }),
    contentType: 'application/merge-patch+json',
    body: { spec: { targetLevel } },
  });
/** The row of an object in the table. */
const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });

describe('the console of outrigger dev', { timeout: 90_000 }, () => {
  it('the flow has every controller, and counts their reconciles', async () => {
    const label = () => page.locator('svg.picture-svg').getAttribute('aria-label');
    await eventually(label, (text) => {
      expect(text).toMatch(/water-tank: \d+ waiting, \d+ in flight, [\d.]+ reconciles/);
      expect(text).toContain('bitcoin-network: ');
    });
    await page.locator('.activity li').filter({ hasText: 'WaterTank north' }).first().waitFor({ timeout: 60_000 });
  });

  it('every sample becomes Ready in the table', async () => {
    await page.getByRole('link', { name: /^Objects/ }).click();
    for (const name of ['north', 'risotto', 'my-network', 'sharded-example', 'example'])
      await row(name).getByText('Ready', { exact: true }).waitFor({ timeout: 60_000 });
  });

  it('an object has its conditions, and a tree down to its pods', async () => {
    await page.getByRole('link', { name: 'my-network', exact: true }).click();
    await page.getByRole('tabpanel').getByText('3 ready nodes have each other as added nodes').waitFor();
    const tree = page.getByRole('region', { name: 'Resource tree' });
    for (const name of ['my-network-sts', 'my-network-sts-2', 'my-network-svc'])
      await tree.getByText(name, { exact: true }).waitFor();
  });

  it('a change is in the timeline with its reconcile, its status and the changed fields', async () => {
    await page.getByRole('link', { name: 'south', exact: true }).click();
    await page.getByRole('tab', { name: 'Timeline' }).click();
    await setLevel(20);
    const timeline = page.getByRole('tabpanel');
    await timeline.getByText('targetLevel 25 -> 20').waitFor({ timeout: 30_000 });
    const run = timeline.locator('.entry').filter({ hasText: 'targetLevel 25 -> 20' });
    await run.getByText('ran because it changed').waitFor({ timeout: 30_000 });
    await run.getByText('by outrigger-dev (Update)').waitFor();
    const bars = async () => (await run.locator('.bar-name').allInnerTexts()).join();
    await eventually(bars, (all) =>
      expect(all).toMatch(/^Watcher,Queue,water-tank,GET .*,PATCH watertanks\/south\/status/),
    );
    await page.getByRole('tab', { name: 'YAML' }).click();
    await timeline.getByText('targetLevel: 20').waitFor();
    expect(problems).toEqual([]);
  });

  it('a dry run shows what the next reconcile would write, and a paused object is not reconciled', async () => {
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page
      .getByRole('region', { name: 'Dry run' })
      .getByText(/the reconcile succeeds|it would call/)
      .waitFor({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await row('south').getByText('Paused').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await row('south').getByText('Ready', { exact: true }).waitFor({ timeout: 60_000 });
  });

  it('a controller and the cluster are paused and resumed', async () => {
    await page.getByRole('link', { name: 'Flow' }).click();
    for (const [part, name] of [
      ['Controllers', 'foo'],
      ['Cluster', 'local'],
    ] as const) {
      const list = page.getByRole('region', { name: part });
      await list.getByRole('button', { name: `Pause ${name}` }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
      await list.getByText('Paused', { exact: true }).waitFor();
      await list.getByRole('button', { name: `Resume ${name}` }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
      await list.getByRole('button', { name: `Pause ${name}` }).waitFor();
    }
  });

  const breakFor = async (seconds: number, title: string) => {
    await page.getByRole('link', { name: 'Break it' }).click();
    await page.getByLabel('Broken for').selectOption(`${seconds} seconds`);
    await page.getByRole('button', { name: `Break: ${title}` }).click();
    const result = page.getByRole('region', { name: 'Experiment', exact: true });
    await result.getByRole('heading', { name: title }).waitFor();
    return result;
  };
  const losesNoChange = async (result: Locator) => {
    await result.getByText(/^(Converged|Not reconciled in time)$/).waitFor({ timeout: 80_000 });
    expect(await result.innerText()).toMatch(
      /Converged[\s\S]*Changes\s+[1-9]\d*\s[\s\S]*Lost\s+0\s+Failed\s+0\s+Time to converge\s+\d/,
    );
  };
  /** Breaks a part, and waits until the verdict says so. */
  const breakSeen = async (title: string, says: RegExp) => {
    const result = await breakFor(8, title);
    await page.getByRole('link', { name: 'Flow' }).click();
    await page.getByRole('region', { name: 'Verdict' }).getByText(says).first().waitFor({ timeout: 30_000 });
    await page.getByRole('link', { name: 'Break it' }).click();
    return result;
  };
  it.each([
    ['Cut the watch', /reconnecting/],
    ['Throttle (429)', /returned 429/],
    ['Unavailable (503)', /returned 503/],
  ] as const)('%s is in the verdict, and loses no change', async (title, says) =>
    await losesNoChange(await breakSeen(title, says)));
  it.each([
    'Compact etcd (410)',
    'Slow responses',
    'Kill the watcher',
    'Duplicate every key',
    'Plant down',
    'Pantry down',
    'Stall the watch',
  ])('%s loses no change', async (title) => await losesNoChange(await breakFor(3, title)));

  describe('faults after which a message is invisible until its visibility timeout is over', () => {
    const state = async () => await readStateFile(dev.state);
    beforeAll(async () => {
      // Three minutes in the template.
      const Attributes = { VisibilityTimeout: '15' };
      const { queueEndpoint = '', queues = {} } = (await state()) ?? {};
      const sqs = createLocalSqsClient(queueEndpoint);
      for (const QueueUrl of Object.values(queues))
        await sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes }));
      sqs.destroy();
    });

    it('SQS down is in the verdict, and loses no change', async () =>
      await losesNoChange(await breakSeen('SQS down', /^Queues cannot be read/)));

    it('Kill at the next write kills every function, and loses no change', async () => {
      const running = async () => (await state())?.functions.map(({ pid }) => pid) ?? [];
      const before = await running();
      expect(before).not.toEqual([]);
      const result = await breakFor(8, 'Kill at the next write');
      // Without a change no reconcile may write.
      await setLevel(30);
      await expect.poll(async () => (await running()).filter((pid) => before.includes(pid))).toEqual([]);
      await losesNoChange(result);
    });
  });

  it('the script takes the pictures of a local system', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-pictures-'));
    parts.defer(() => rm(folder, { recursive: true, force: true }));
    await takeLocalPictures({ url: dev.url, client, browser }, folder, { plotSeconds: 1 });
    for (const name of localPictures) await expectPicture(folder, name);
  });
});

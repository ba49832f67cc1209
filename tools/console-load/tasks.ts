// What an on-call engineer does with the console and with the commands: `npm run console-tasks`. Prints a row for each
// task: clicks and seconds in a browser, commands and their seconds. docs/records/profiles.md has the table. It fails
// where a task does not reach its end.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { openCluster } from '@outrigger/cli/dev/cluster-access';
import { forEachConcurrently } from 'outrigger/internal/core/async';
import type { Locator, Page } from 'playwright-core';
import { Ingredient } from '../../src/controllers/ingredient.ts';
import { WaterTank } from '../../src/controllers/water-tank.ts';
import { collectionPath, objectPath } from '../../src/kube/client/path.ts';
import { openPage, startBrowser } from '../../test/console/browser/chromium.ts';
import { startDevProcess } from '../../test/console/browser/dev-process.ts';
import { pictureOptions } from '../../test/console/screenshots.ts';

const objects = Number(process.argv[2] ?? 2_000);
const port = ['--console-port', '41999'];
const hostile = '<img src=x onerror=alert(1)>\u001b[31m\u202e';

/** A person at a page: each click and each key that is pressed counts. */
class Hand {
  clicks = 0;
  readonly page: Page;
  constructor(page: Page) {
    this.page = page;
  }
  async click(locator: Locator, options = {}): Promise<void> {
    this.clicks += 1;
    // A fault can be started when the experiment before has ended.
    await locator.click({ timeout: 200_000, ...options });
  }
  async open(...names: readonly (string | RegExp)[]): Promise<void> {
    for (const name of names)
      await this.click(this.page.getByRole('link', typeof name === 'string' ? { name, exact: true } : { name }));
  }
  async press(name: string | RegExp): Promise<void> {
    await this.click(this.page.getByRole('button', { name }).first());
  }
  async confirm(name: string): Promise<void> {
    await this.click(this.page.getByRole('dialog').getByRole('button', { name }));
  }
  async see(text: string | RegExp, within = 'main'): Promise<void> {
    await this.page.locator(within).getByText(text).first().waitFor({ timeout: 90_000 });
  }
}

/** A task; `says` is what the last command prints. Without commands the console alone does it. */
type Task = {
  readonly name: string;
  readonly prepare?: () => Promise<unknown>;
  readonly console: (hand: Hand) => Promise<void>;
  readonly commands?: readonly (readonly string[])[];
  readonly says?: RegExp;
};

let system = await startDevProcess([...pictureOptions, ...port]);
const folder = path.dirname(system.kubeconfig);
const browser = await startBrowser();
const cluster = await openCluster(folder, { file: system.kubeconfig, signal: AbortSignal.timeout(3_600_000) });
const { page } = await openPage(browser, system.url);
const operator = (await openPage(browser, system.url)).page;
const ingredient = async (name: string, item: string) =>
  await cluster.client.request({
    ...{ method: 'POST', path: collectionPath(Ingredient, 'default'), timeoutSeconds: 60 },
    body: {
      ...{ apiVersion: Ingredient.apiVersion, kind: Ingredient.kind, metadata: { name } },
      spec: { item, amount: 1, unit: 'piece' },
    },
  });
const edit = async (manager: string) =>
  await cluster.client.request({
    ...{ method: 'PATCH', contentType: 'application/merge-patch+json' },
    path: `${objectPath(WaterTank, { namespace: 'default', name: 'north' })}?fieldManager=${manager}`,
    body: { spec: { targetLevel: 20 + (Math.floor(performance.now()) % 10) } },
  });
const breakPart = async (title: string) => {
  const hand = new Hand(operator);
  await hand.open('Break it');
  await operator.getByLabel('Broken for').selectOption('30 seconds');
  await hand.press(`Break: ${title}`);
  await hand.see('Broken');
};
const failing = 'ingredient:default/risotto-dragonfruit';

const tasks: readonly Task[] = [
  {
    name: 'why is it not Ready',
    prepare: () => ingredient('risotto-dragonfruit', 'dragonfruit'),
    console: async (hand) => {
      await hand.open(/^Objects/, 'risotto-dragonfruit');
      await hand.see(/the dragonfruit jar cannot be opened/, '.why');
    },
    ...{ commands: [['explain', failing]], says: /the dragonfruit jar cannot be opened/ },
  },
  {
    name: 'who changed what',
    prepare: () => edit('alice'),
    console: async (hand) => {
      await hand.open(/^Objects/, 'north');
      await hand.click(hand.page.getByRole('tab', { name: 'Timeline' }));
      await hand.see(/alice/, '[role=tabpanel]');
    },
  },
  {
    name: 'a dead letter until its redrive',
    prepare: () =>
      page
        .getByText(/^\d+ dead$/)
        .first()
        .waitFor({ timeout: 120_000 }),
    console: async (hand) => {
      await hand.open(/^Queues/);
      await hand.press('Redrive risotto-dragonfruit');
      await hand.confirm('Redrive');
      await hand.see(/dead letters? sent again/, '.notices');
    },
    commands: [
      ['dlq', 'list'],
      ['dlq', 'redrive', '--controller', 'ingredient', '--dry-run'],
    ],
    says: /risotto-dragonfruit/,
  },
  {
    name: 'pause and resume a controller',
    console: async (hand) => {
      await hand.open('Flow');
      for (const [verb, next] of [
        ['Pause', 'Resume'],
        ['Resume', 'Pause'],
      ] as const) {
        await hand.press(`${verb} water-tank`);
        await hand.confirm(verb);
        await page.getByRole('button', { name: `${next} water-tank` }).waitFor({ timeout: 60_000 });
      }
    },
    ...{
      commands: [
        ['pause', 'water-tank'],
        ['resume', 'water-tank'],
      ],
      says: /water-tank/,
    },
  },
  {
    name: 'which is slow, and why',
    prepare: async () => {
      await breakPart('Slow responses');
      await edit('bob');
    },
    console: async (hand) => {
      await hand.open(/^Objects/, 'north');
      await hand.click(hand.page.getByRole('tab', { name: 'Timeline' }));
      await hand.see(/\b2\.\d s/, '.waterfall');
    },
    ...{ commands: [['history', 'water-tank:default/north']], says: /\b[2-9]\d{3}\b|\b[2-9]\.\d s/ },
  },
  {
    name: 'is anything lost or behind',
    console: async (hand) => {
      await hand.open('Flow');
      await hand.see(/^behind: .*; missed: \d+ by the resync/, '.verdict');
    },
    ...{ commands: [['status', '--json']], says: /"missed": \d+/ },
  },
  {
    name: `find one of ${objects.toLocaleString('en')}`,
    prepare: async () =>
      await forEachConcurrently(
        8,
        [...Array(objects).keys()],
        async (index) => void (await ingredient(`salt-${index}`, 'salt')),
      ),
    console: async (hand) => {
      await page.locator('body').press('Control+k');
      await page.getByRole('combobox', { name: 'Find clusters, controllers and objects' }).fill(`salt-${objects - 1}`);
      await page.locator('.found-name').first().waitFor();
      await page.getByRole('combobox', { name: 'Find clusters, controllers and objects' }).press('Enter');
      hand.clicks += 2;
      await page.getByRole('heading', { name: `salt-${objects - 1}` }).waitFor();
    },
    ...{ commands: [['get', 'ingredient']], says: new RegExp(`salt-${objects - 1}\\b`) },
  },
  {
    name: 'an object with a hostile text',
    prepare: () => ingredient('hostile', hostile),
    console: async (hand) => {
      await hand.open(/^Objects/);
      await page.getByLabel('Search objects').fill('hostile');
      await hand.open('hostile');
      await hand.click(page.getByRole('tab', { name: 'YAML' }));
      await hand.see(/<img src=x/, '[role=tabpanel]');
      if ((await page.locator('img').count()) > 0) throw new Error('the text is HTML');
    },
    ...{ commands: [['explain', 'ingredient:default/hostile']], says: /^(?:[^\p{Cc}\p{Cf}]|\n)*$/u },
  },
  {
    name: 'a part that is down',
    prepare: () => breakPart('SQS down'),
    console: async (hand) => {
      await hand.open('Flow');
      await hand.see('queues: not known: they cannot be read', '.verdict');
    },
    ...{ commands: [['status']], says: /cannot be read/ },
  },
  {
    name: 'a second tab, and a restart',
    console: async (hand) => {
      await hand.open(/^Objects/);
      const opened = page.context().waitForEvent('page');
      await hand.click(page.locator('td.c-name a').first(), { modifiers: ['Control'] });
      await (await opened).getByRole('status').filter({ hasText: 'Live' }).waitFor();
      await system[Symbol.asyncDispose]();
      system = await startDevProcess(port);
      hand.clicks += 1;
      await openPage(browser, system.url);
      await page.getByRole('status').filter({ hasText: 'Not connected' }).waitFor({ timeout: 60_000 });
    },
  },
];

/** Runs a command as a person does. Returns what it printed on both streams, and the seconds. */
async function runCommand(argv: readonly string[]): Promise<{ readonly text: string; readonly seconds: number }> {
  const started = performance.now();
  const all = ['packages/cli/bin/outrigger.js', ...argv, '--folder', folder];
  const text = await new Promise<string>((resolve) => {
    execFile(process.execPath, all, { maxBuffer: 1e8 }, (_, out, err) => resolve(`${out}${err}`));
  });
  return { text, seconds: (performance.now() - started) / 1000 };
}

try {
  process.stdout.write('| task | clicks | s | commands | s |\n| --- | --- | --- | --- | --- |\n');
  for (const { name, prepare, console: inConsole, commands = [], says } of tasks) {
    await prepare?.();
    const runs = [];
    for (const argv of commands) runs.push(await runCommand(argv));
    const said = runs.map(({ text }) => text).join('\n');
    if (says?.test(said) === false) throw new Error(`${name}: ${said.slice(-2_000)}`);
    const hand = new Hand(page);
    const started = performance.now();
    await inConsole(hand);
    const seconds = (performance.now() - started) / 1000;
    const total = runs.reduce((sum, one) => sum + one.seconds, 0);
    const shown = commands.map((argv) => argv.join(' ')).join(', ');
    const byCommands = shown === '' ? 'the console alone | ' : `${shown} | ${total.toFixed(1)}`;
    process.stdout.write(`| ${name} | ${hand.clicks} | ${seconds.toFixed(1)} | ${byCommands} |\n`);
  }
} finally {
  await browser.close();
  cluster.close();
  await system[Symbol.asyncDispose]();
}

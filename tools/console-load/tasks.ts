// What an on-call engineer does with the console and with the commands: `npm run console-tasks`. Prints a row for each
// task: clicks and seconds in a browser, commands and their seconds. docs/records/profiles.md has the table. It fails
// where a task does not reach its end.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
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
import { until } from '../chaos/until.ts';
import { breakPart, commandLine, runCommand } from './operator.ts';

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

/** What commands printed, and their seconds. */
type Run = { readonly text: string; readonly seconds: number };
/** A task; `says` is what its commands print. `between` is before the console, and `watched` after it. */
type Task = {
  readonly name: string;
  readonly prepare?: () => Promise<unknown>;
  readonly between?: () => Promise<unknown>;
  readonly console: (hand: Hand) => Promise<void>;
  readonly commands: readonly (readonly string[])[];
  readonly watched?: () => Promise<Run>;
  readonly says: RegExp;
};

let system = await startDevProcess([...pictureOptions, ...port]);
const folder = path.dirname(system.kubeconfig);
const browser = await startBrowser();
const cluster = await openCluster(folder, { file: system.kubeconfig, signal: AbortSignal.timeout(3_600_000) });
const { page } = await openPage(browser, system.url);
const operator = (await openPage(browser, system.url)).page;
const ingredient = async (name: string, item: string) =>
  await cluster.client.request({
    method: 'POST',
    path: collectionPath(Ingredient, 'default'),
    timeoutSeconds: 60,
    body: {
      apiVersion: Ingredient.apiVersion,
      kind: Ingredient.kind,
      metadata: { name },
      spec: { item, amount: 1, unit: 'piece' },
    },
  });
const edit = async (manager: string) =>
  await cluster.client.request({
    method: 'PATCH',
    contentType: 'application/merge-patch+json',
    path: `${objectPath(WaterTank, { namespace: 'default', name: 'north' })}?fieldManager=${manager}`,
    body: { spec: { targetLevel: 20 + (Math.floor(performance.now()) % 10) } },
  });
const failing = 'ingredient:default/risotto-dragonfruit';
const isDead = async () =>
  await until(
    async () => (await runCommand(folder, ['dlq', 'list'])).includes('risotto-dragonfruit'),
    600,
    'the object is no dead letter',
  );
let watching: ReturnType<typeof startWatch> | undefined;

const tasks: readonly Task[] = [
  {
    name: 'why is it not Ready',
    prepare: () => ingredient('risotto-dragonfruit', 'dragonfruit'),
    console: async (hand) => {
      await hand.open(/^Objects/, 'risotto-dragonfruit');
      await hand.see(/the dragonfruit jar cannot be opened/, '.why');
    },
    commands: [['explain', failing]],
    says: /the dragonfruit jar cannot be opened/,
  },
  {
    name: 'who changed what',
    prepare: () => edit('alice'),
    console: async (hand) => {
      await hand.open(/^Objects/, 'north');
      await hand.click(hand.page.getByRole('tab', { name: 'Timeline' }));
      await hand.see(/alice/, '[role=tabpanel]');
    },
    commands: [['explain', 'water-tank:default/north']],
    says: /written by +alice +Update .* spec\.targetLevel/,
  },
  {
    name: 'a dead letter until its redrive',
    prepare: isDead,
    between: isDead,
    console: async (hand) => {
      await hand.open(/^Queues/);
      await hand.press('Redrive risotto-dragonfruit');
      await hand.confirm('Redrive');
      await hand.see(/dead letters? sent again/, '.notices');
    },
    commands: [
      ['dlq', 'list'],
      ['dlq', 'redrive', '--controller', 'ingredient'],
    ],
    says: /\nsent ingredient:\S+risotto-dragonfruit /,
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
    commands: [
      ['pause', 'water-tank'],
      ['resume', 'water-tank'],
    ],
    says: /water-tank/,
  },
  {
    name: 'which is slow, and why',
    prepare: async () => {
      await breakPart(operator, 'Slow responses');
      await edit('bob');
      await seeSlow(new Hand(operator));
    },
    console: async (hand) => await seeSlow(hand),
    commands: [['status', '--json']],
    says: /"slowest": \{\s+"controller": "[\s\S]+"name": "API server"/,
  },
  {
    name: 'is anything lost or behind',
    console: async (hand) => {
      await hand.open('Flow');
      await hand.see(/^behind: .*; missed: \d+ by the resync/, '.verdict');
    },
    commands: [['explain', 'water-tank']],
    says: /behind: \d+ keys?.*; missed: \d+ by[\s\S]*in the API server/,
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
    commands: [['get', 'ingredient']],
    says: new RegExp(`salt-${objects - 1}\\b`),
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
    commands: [['explain', 'ingredient:default/hostile']],
    says: /^(?:[^\p{Cc}\p{Cf}]|\n)*$/u,
  },
  {
    name: 'a part that is down',
    prepare: () => breakPart(operator, 'SQS down'),
    console: async (hand) => {
      await hand.open('Flow');
      await hand.see('Queues cannot be read', '.verdict');
    },
    commands: [['status']],
    says: /cannot be read/,
  },
  {
    name: 'a second tab, and a restart',
    prepare: nextStatus,
    console: async (hand) => {
      await hand.open(/^Objects/);
      const opened = page.context().waitForEvent('page');
      await hand.click(page.locator('td.c-name a').first(), { modifiers: ['Control'] });
      await (await opened).getByRole('status').filter({ hasText: 'Live' }).waitFor();
      await system[Symbol.asyncDispose]();
      system = await startDevProcess([...port, '--folder', folder]);
      hand.clicks += 1;
      await openPage(browser, system.url);
      await page.getByRole('status').filter({ hasText: 'Not connected' }).waitFor({ timeout: 60_000 });
    },
    watched: nextStatus,
    commands: [],
    says: /^QUEUE /m,
  },
];

async function seeSlow(hand: Hand): Promise<void> {
  await hand.open(/^Objects/, 'north');
  await hand.click(hand.page.getByRole('tab', { name: 'Timeline' }));
  await hand.see(/\b2\.\d s/, '.waterfall');
}

function startWatch() {
  return spawn(process.execPath, [...commandLine(folder, ['status', '--watch'])]);
}

/** Waits for the next status of `status --watch`, which goes on over a restart. */
async function nextStatus(): Promise<Run> {
  watching ??= startWatch();
  const started = performance.now();
  let text = '';
  while (!/^QUEUE /m.test(text))
    text += String((await once(watching.stdout, 'data', { signal: AbortSignal.timeout(60_000) }))[0]);
  return { text, seconds: (performance.now() - started) / 1000 };
}

/** Runs a command as a person does, and takes its time. */
async function timed(argv: readonly string[]): Promise<Run> {
  const started = performance.now();
  const text = await runCommand(folder, argv);
  return { text, seconds: (performance.now() - started) / 1000 };
}

try {
  process.stdout.write('| task | clicks | s | commands | s |\n| --- | --- | --- | --- | --- |\n');
  for (const { name, prepare, between, console: inConsole, commands, watched, says } of tasks) {
    await prepare?.();
    const runs: Run[] = [];
    for (const argv of commands) runs.push(await timed(argv));
    await between?.();
    const hand = new Hand(page);
    const started = performance.now();
    await inConsole(hand);
    const seconds = (performance.now() - started) / 1000;
    if (watched !== undefined) runs.push(await watched());
    const said = runs.map(({ text }) => text).join('\n');
    if (!says.test(said)) throw new Error(`${name}: ${said.slice(-2_000)}`);
    const total = runs.reduce((sum, one) => sum + one.seconds, 0);
    const shown = watched === undefined ? commands.map((argv) => argv.join(' ')).join(', ') : 'status --watch';
    const [inPage, inTerminal] = [seconds.toFixed(1), total.toFixed(1)];
    process.stdout.write(`| ${name} | ${hand.clicks} | ${inPage} | ${shown} | ${inTerminal} |\n`);
  }
} finally {
  watching?.kill('SIGINT');
  await browser.close();
  cluster.close();
  await system[Symbol.asyncDispose]();
}

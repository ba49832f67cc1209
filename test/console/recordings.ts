// Takes the pictures of README and docs that move: `npm run recordings`, or with `-- FOLDER` into that folder. They are
// of real systems, and a person looks at them, as at those of screenshots.ts. An animated PNG cannot be still for who
// wants less motion, so the README has another one for them.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startOnTerminal } from '../support/terminal.ts';
import { animatedPng } from './animated-png.ts';
import { openPage, startBrowser } from './browser/chromium.ts';
import { devArguments, startDevProcess } from './browser/dev-process.ts';
import { addDragonfruit, allReady, connect, type PicturedSystem, pictureOptions, startEditor } from './screenshots.ts';
import { type TerminalFrame, terminalSvg } from './terminal-svg.ts';

/** The files. */
export const recordings = ['break-it.png', 'dev.svg'] as const;
const [breakIt, devPicture] = recordings;

const root = path.resolve(import.meta.dirname, '../..');
/** The whole menu of faults has room. */
const size = { columns: 100, rows: 28 };
/** Longer than the time between two pictures of the command. */
const frameMilliseconds = 1_100;
/** Longer than the three minutes after which a message whose deletion SQS did not accept is received again. */
const redeliveredMilliseconds = 240_000;

/** Records `npm run demo` on a terminal: the start, edits, SQS that is down, and an object that fails. */
async function recordDev(): Promise<string> {
  await using parts = new AsyncDisposableStack();
  const argv = [process.execPath, ...devArguments('.outrigger', pictureOptions)];
  const terminal = parts.use(startOnTerminal(argv, root));
  terminal.resize(size.rows, size.columns);
  const frames: TerminalFrame[] = [];
  const record = async (count: number, milliseconds: number) => {
    for (let frame = 0; frame < count; frame += 1) {
      await wait(frameMilliseconds);
      frames.push({ lines: terminal.painted(), milliseconds });
    }
  };
  const see = async (pattern: RegExp, limit?: number) =>
    await terminal.screen((lines) => lines.some((line) => pattern.test(line)), limit);
  await see(/^\d\d:\d\d:\d\d /);
  await record(3, 600);
  await see(/^All is well: /);
  await record(2, 700);
  await see(/^All is well: (\d+) of \1 /);
  await record(1, 2_000);
  const client = await connect(parts, path.join(root, '.outrigger/kubeconfig'));
  const editing = parts.use(startEditor(client));
  await record(6, 450);
  terminal.press('b');
  const menu = await see(/^[a-z] +SQS down:/);
  await record(1, 2_000);
  terminal.press(menu.find((line) => line.includes('SQS down'))?.[0] ?? '');
  await see(/^SQS down: broken for/);
  await record(6, 450);
  await see(/^SQS down: \d+ reconciles until .* 0 lost$/, redeliveredMilliseconds);
  await record(1, 3_500);
  await editing.stop();
  await addDragonfruit(client);
  await see(/^1 dead letter$/);
  await record(1, 4_000);
  return terminalSvg(frames, { ...size, title: 'outrigger dev on a terminal' });
}

/** Records edits, and SQS that is down while objects change: no change is lost. */
async function recordBreakIt({ url, client, browser }: PicturedSystem): Promise<Buffer> {
  const { page } = await openPage(browser, url, { width: 1000 });
  const frames: { readonly png: Buffer; readonly milliseconds: number }[] = [];
  const record = async (count: number, milliseconds = 500) => {
    for (let frame = 0; frame < count; frame += 1) {
      frames.push({ png: await page.screenshot({ clip: { x: 0, y: 0, width: 1000, height: 620 } }), milliseconds });
      await wait(400);
    }
  };
  await page.locator(allReady).first().waitFor({ timeout: 120_000 });
  await record(1, 1_500);
  await using editing = startEditor(client);
  await record(5);
  await page.getByRole('link', { name: 'Break it' }).click();
  await page.getByLabel('Broken for').selectOption('8 seconds');
  await page.getByRole('button', { name: 'Break: SQS down' }).click();
  const result = page.getByRole('region', { name: 'Experiment', exact: true });
  await result.getByText('Broken').waitFor();
  await record(2, 1_200);
  await page.getByRole('link', { name: 'Flow' }).click();
  await record(6);
  await editing.stop();
  await page.getByRole('link', { name: 'Break it' }).click();
  await result.getByText('Converged').first().waitFor({ timeout: redeliveredMilliseconds });
  await record(1, 4_000);
  return animatedPng(frames);
}

if (import.meta.main) {
  const folder = path.resolve(process.argv[2] ?? path.join(root, 'docs/console'));
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, devPicture), await recordDev());
  await using parts = new AsyncDisposableStack();
  const browser = await startBrowser();
  parts.defer(() => browser.close());
  const { url, kubeconfig } = parts.use(await startDevProcess());
  const system = { url, client: await connect(parts, kubeconfig), browser };
  await writeFile(path.join(folder, breakIt), await recordBreakIt(system));
}

// The terminal of `outrigger dev` while it shows the picture. The log is kept, and its end is printed when the picture
// ends.
//
// Guarantees: the terminal is as it was when the system is stopped, and when this process crashes or exits.
import { styleText } from 'node:util';
import type { ConsoleSource } from '../console/source.ts';
import type { Flow, Tone } from '../console/wire.ts';
import type { OutputLine } from '../dev/lines.ts';
import { createPrinter } from '../dev/printer.ts';
import { formatError } from './command.ts';
import { faultOf, type PictureState, picture } from './dev-picture.ts';
import { openInBrowser } from './open-in-browser.ts';

/** The alternate screen, without a cursor, which cuts lines that are too long (xterm's control sequences). */
const enter = '\u001b[?1049h\u001b[?25l\u001b[?7l';
const leave = '\u001b[?7h\u001b[?25h\u001b[?1049l';
const colours = { good: 'green', busy: 'blue', bad: 'red', unknown: 'yellow', neutral: 'dim' } as const;

const tickMilliseconds = 1_000;
/** A new line of the log is shown at once, unless the picture is newer than this. */
const quickMilliseconds = 100;
const flowTicks = 2;
const actionMilliseconds = 10_000;
const maxRuns = 60;
const maxLog = 500;
/** The lines that are left on the terminal at the end. */
const leftLog = 200;

/** A system that runs. */
type Followed = {
  readonly source: ConsoleSource;
  /** Of the console. */
  readonly url: string;
  readonly resync: () => Promise<unknown>;
};

/** The terminal, from its creation until `close`, which the signal calls, too. */
export class DevScreen implements Disposable {
  readonly #startedAt = performance.now();
  readonly #runs = new Map<string, readonly number[]>();
  readonly #newRuns = new Map<string, number>();
  readonly #printer: (line: OutputLine) => void;
  readonly #timer: NodeJS.Timeout;
  #ticks = 0;
  #paintedAt = 0;
  #isOpen = true;
  #log: string[] = [];
  #said = '';
  #shows: PictureState['shows'] = 'problems';
  #followed: Followed | undefined;
  #flow: Flow | undefined;

  constructor(stop: AbortSignal, options: { readonly verbose: boolean }) {
    this.#printer = createPrinter(this.#write, { readable: true, ...options });
    stop.addEventListener('abort', this.close, { once: true });
    process.once('exit', this.close).once('uncaughtExceptionMonitor', this.close);
    process.stdin.setRawMode(true).on('data', this.#press);
    process.stdout.on('resize', this.#paint).write(enter);
    this.#timer = setInterval(this.#tick, tickMilliseconds);
    this.#paint();
  }

  /** Adds a line to the log; prints it after the end. */
  readonly print = (line: OutputLine): void => {
    if (line.source === 'system' || line.source === 'types') this.#said = line.text.replaceAll(/\s*\n\s*/g, ' ');
    this.#printer(line);
    if (performance.now() - this.#paintedAt > quickMilliseconds) this.#paint();
  };

  /** Shows a system that runs now. */
  follow(followed: Followed): void {
    this.#followed = followed;
    followed.source.onEvent((event) => {
      if (event.type !== 'entry' || event.entry.type !== 'reconcile') return;
      const { controller = '' } = event.entry;
      this.#newRuns.set(controller, (this.#newRuns.get(controller) ?? 0) + 1);
    });
    this.#readFlow();
  }

  /** Gives the terminal back. */
  readonly close = (): void => {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearInterval(this.#timer);
    process.off('exit', this.close).off('uncaughtExceptionMonitor', this.close);
    process.stdin.off('data', this.#press).setRawMode(false).pause();
    process.stdout.off('resize', this.#paint).write(leave + this.#log.slice(-leftLog).join(''));
  };

  [Symbol.dispose](): void {
    this.close();
  }

  readonly #write = (text: string): void => {
    if (this.#isOpen) this.#log = [...this.#log, text].slice(-maxLog);
    else process.stdout.write(text);
  };

  readonly #tick = (): void => {
    for (const { name } of this.#flow?.controllers ?? [])
      this.#runs.set(name, [...(this.#runs.get(name) ?? []), this.#newRuns.get(name) ?? 0].slice(-maxRuns));
    this.#newRuns.clear();
    this.#ticks += 1;
    if (this.#ticks % flowTicks === 0) this.#readFlow();
    this.#paint();
  };

  /** A flow rejects only before the first one; the next read is two seconds away. */
  #readFlow(): void {
    const read = this.#followed?.source.flow(AbortSignal.timeout(actionMilliseconds));
    read?.then(
      (flow) => {
        this.#flow = flow;
        this.#paint();
      },
      () => undefined,
    );
  }

  readonly #paint = (): void => {
    if (!this.#isOpen) return;
    this.#paintedAt = performance.now();
    const { source, url } = this.#followed ?? {};
    const state: PictureState = {
      seconds: Math.floor((this.#paintedAt - this.#startedAt) / 1000),
      url,
      flow: this.#flow,
      runs: this.#runs,
      shows: this.#shows,
      said: this.#said,
      rows: source?.rows() ?? [],
      faults: source?.faults ?? [],
      experiment: source?.experiments()[0],
      log: this.#log.flatMap((text) => text.trimEnd().split('\n')),
    };
    // A terminal without a size has 0 of both.
    const size = { columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 };
    const lines = picture(state, size).map(({ text, tone }) => `\u001b[2K${coloured(text, tone)}`);
    process.stdout.write(`\u001b[H${lines.join('\r\n')}`);
  };

  readonly #press = (data: Buffer): void => {
    for (const key of String(data)) this.#do(key);
    this.#paint();
  };

  #do(key: string): void {
    // In raw mode Ctrl-C is a character.
    if (key === 'q' || key === '\u0003') return void process.kill(process.pid, 'SIGINT');
    if (this.#followed === undefined) return;
    const { source, url, resync } = this.#followed;
    const say = (text: string) => this.print({ source: 'system', text });
    if (this.#shows === 'faults') {
      this.#shows = 'problems';
      const fault = faultOf(key, source.faults)?.name;
      if (fault === undefined) return;
      const ended = source.act({ type: 'break', fault }, AbortSignal.timeout(actionMilliseconds));
      ended.then(({ text }) => say(text)).catch((error: unknown) => say(formatError(error)));
    } else if (key === 'c') openInBrowser(url, say);
    else if (key === 'l') this.#shows = this.#shows === 'log' ? 'problems' : 'log';
    else if (key === 'b' && source.faults.length > 0) this.#shows = 'faults';
    else if (key === 'r') resync().catch((error: unknown) => say(`the resync: ${formatError(error)}`));
  }
}

function coloured(text: string, tone: Tone | undefined): string {
  return tone === undefined ? text : styleText(colours[tone], text, { stream: process.stdout });
}

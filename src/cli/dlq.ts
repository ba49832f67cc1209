// `outrigger dlq`: what went wrong for good, and putting it back to work.
import { Command } from 'commander';
import type { Registered } from '../core/controller.ts';
import { formatTarget } from '../core/key.ts';
import { redact } from '../core/redact.ts';
import { controllerDeadLetters, resyncDeadLetters, timersDeadLetters } from '../core/names.ts';
import { alignColumns } from '../dev/columns.ts';
import type { DeadLetter } from '../queue/dead-letter.ts';
import { createDepth } from '../sqs/depth.ts';
import { createHold } from '../queue/hold.ts';
import { targetOf } from '../queue/message.ts';
import { createSend } from '../queue/send.ts';
import { type Redriven, readLetters, redrive } from '../runtime/redrive.ts';
import { controllerNamed, isAsked, parseAskedKey } from './parse-key.ts';
import { OperatorProblem, operate } from './operate.ts';
import { type Output, outputOption, printJson } from './output.ts';
import { openPlace, type Place, type PlaceFlags, withPlace } from './place.ts';
import { loadProject } from './project.ts';

type ListFlags = PlaceFlags & {
  readonly controller?: string;
  readonly output: Output;
  readonly limit: number;
};
type RedriveFlags = PlaceFlags & {
  readonly controller?: string;
  readonly key?: string;
  readonly id?: string;
  readonly dryRun?: boolean;
};

/** Queues that no controller has, by the name under which they are listed. What is on them belongs to the machinery. */
const others: Readonly<Record<string, string>> = { timers: timersDeadLetters, resync: resyncDeadLetters };

/** Makes the command. */
export function dlqCommand(): Command {
  const list = withPlace(new Command('list'))
    .description('show the dead letters of every controller, and of timers and resync')
    .option('--controller <name>', 'only those of one controller, or of timers or resync')
    .addOption(outputOption())
    .option('--limit <n>', 'at most so many of each queue', Number, 1000)
    .addHelpText('after', listText)
    .action(async (flags: ListFlags) => await operate('dlq list', async (signal) => await runList(flags, signal)));
  const redriven = withPlace(new Command('redrive'))
    .description('send dead letters to their controllers once more, and delete them')
    .option('--controller <name>', 'those of one controller, or of timers')
    .option('--key <key>', 'those of one object: CONTROLLER:NAMESPACE/NAME, or a whole key as dlq list prints it')
    .option('--id <id>', 'the one with this message id')
    .option('--dry-run', 'say what would be sent, and leave everything as it is')
    .addHelpText('after', redriveText)
    .action(
      async (flags: RedriveFlags) => await operate('dlq redrive', async (signal) => await runRedrive(flags, signal)),
    );
  return new Command('dlq')
    .description('dead letters: messages that were given up, and why')
    .addCommand(list)
    .addCommand(redriven);
}

const listText = `
Nothing is consumed. SQS has no peek, so letters are received and given back: for a few seconds (a minute, if this is killed)
nobody else sees them. The reason "unknown" is that of letters which SQS moved itself, after ten receives without an end:
a function that dies or times out. Exit status 0 says that the list was made, not that it is empty.`;

const redriveText = `
Mend the cause first. Each letter is sent on the replay lane, its attempts begin anew, and only then is it deleted; killed
half-way and run again, it sends at worst a second time under the same deduplication id. A letter whose body is no message
stays. Without --controller, --key or --id all letters of all controllers are sent. Exit status 1: some could not be.`;

async function runList({ controller, output, limit, ...flags }: ListFlags, signal: AbortSignal): Promise<number> {
  if (!Number.isInteger(limit) || limit < 1) throw new OperatorProblem('--limit: a whole number above 0 is needed');
  const { registry } = await loadProject(process.cwd());
  const queues = queuesOf(registry, controller, [...registry.map(({ name }) => name), ...Object.keys(others)]);
  const place = await openPlace(flags, signal);
  try {
    const found = await Promise.all(
      queues.map(async ({ of, queue }) => {
        const depth = await depthOf(place, queue, signal);
        const letters = await readLetters(createHold(place.sqs, place.urlPrefix, queue), { most: limit, signal });
        return { of, queue, letters: letters.slice(0, limit), unseen: depth - Math.min(letters.length, limit) };
      }),
    );
    const letters = found.flatMap(({ of, queue, letters }) => letters.map((letter) => ({ of, queue, letter })));
    if (output === 'json') printJson(letters.map(toJson));
    else process.stdout.write(letters.length === 0 ? 'no dead letters\n' : `${toTable(letters)}\n`);
    for (const { queue, unseen } of found.filter((one) => one.unseen > 0)) {
      process.stderr.write(
        `${queue}: about ${unseen} more, beyond --limit, behind ten of the same object, or in somebody else's hand\n`,
      );
    }
    return 0;
  } finally {
    place.close();
  }
}

async function runRedrive(
  { controller, key, id, dryRun = false, ...flags }: RedriveFlags,
  signal: AbortSignal,
): Promise<number> {
  if (key !== undefined && id !== undefined) throw new OperatorProblem('--key and --id exclude each other');
  const { registry } = await loadProject(process.cwd());
  const isMachinery = controller !== undefined && controller in others;
  const asked = key === undefined ? undefined : parseAskedKey(key, registry, isMachinery ? undefined : controller);
  // What timers could not forward is a controller's message all the same; what resync could not do, its next tick does.
  const names =
    asked === undefined || isMachinery ? [...registry.map(({ name }) => name), 'timers'] : [asked.controller, 'timers'];
  if (controller === 'resync')
    throw new OperatorProblem('resync is not redriven: its next tick lists everything again');
  const queues = queuesOf(registry, controller, names);
  const place = await openPlace(flags, signal);
  const counts = { sent: 0, 'would-be-sent': 0, kept: 0, refused: 0 };
  try {
    const send = createSend(place.sqs, place.urlPrefix);
    const matches = ({ messageId, message }: DeadLetter) =>
      (id === undefined || messageId === id) &&
      (asked === undefined || (message !== undefined && isAsked(asked, targetOf(message))));
    const drain = async (queue: string) => {
      const parts = { hold: createHold(place.sqs, place.urlPrefix, queue), send, now: () => new Date() };
      for await (const redriven of redrive(parts, { matches, dryRun, signal })) {
        counts[redriven.type] += 1;
        process.stdout.write(`${lineOf(redriven, queue)}\n`);
      }
    };
    // All of them to their end, so that what is held is given back, also when one cannot be read.
    const ends = await Promise.allSettled(queues.map(({ queue }) => drain(queue)));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  } finally {
    place.close();
  }
  const done = dryRun ? `${counts['would-be-sent']} would be sent` : `${counts.sent + counts.kept} sent`;
  const stay = counts.kept + counts.refused;
  process.stdout.write(`${done}${stay === 0 ? '' : `, ${stay} stay`}\n`);
  if (id !== undefined && Object.values(counts).every((count) => count === 0)) {
    throw new OperatorProblem(`--id ${id}: no letter has it, or it is in somebody else's hand; see outrigger dlq list`);
  }
  return stay === 0 ? 0 : 1;
}

function queuesOf(
  registry: readonly Registered[],
  wanted: string | undefined,
  all: readonly string[],
): readonly { of: string; queue: string }[] {
  const names = wanted === undefined ? all : [wanted];
  return names.map((of) => ({ of, queue: others[of] ?? controllerDeadLetters(controllerNamed(of, registry).name) }));
}

/** How many letters there are, by SQS's own approximate count; none where it cannot be asked, since it only adds a remark. */
async function depthOf({ sqs, urlPrefix }: Place, queue: string, signal: AbortSignal): Promise<number> {
  try {
    const { visible, inFlight } = await createDepth(sqs, urlPrefix)(queue, { signal });
    return visible + inFlight;
  } catch {
    return 0;
  }
}

type Listed = { readonly of: string; readonly queue: string; readonly letter: DeadLetter };

function keyOf({ message }: DeadLetter): string | undefined {
  // Names come from messages, and may hold what a terminal would obey.
  return message === undefined ? undefined : redact(formatTarget(targetOf(message)));
}

function toTable(letters: readonly Listed[]): string {
  const rows = letters.map(({ of, letter }) => [
    of,
    keyOf(letter) ?? '-',
    letter.reason,
    letter.attempts === undefined ? '-' : String(letter.attempts),
    letter.firstSeenAt?.toISOString() ?? '-',
    letter.messageId,
    letter.error ?? '-',
  ]);
  // The error comes last: it may be long.
  return alignColumns([['CONTROLLER', 'KEY', 'REASON', 'ATTEMPTS', 'FIRST SEEN', 'MESSAGE ID', 'ERROR'], ...rows]);
}

function toJson({ of, queue, letter }: Listed): object {
  const { reason, attempts = null, error = null, messageId, body } = letter;
  const firstSeenAt = letter.firstSeenAt?.toISOString() ?? null;
  return { controller: of, queue, key: keyOf(letter) ?? null, reason, attempts, firstSeenAt, error, messageId, body };
}

function lineOf(redriven: Redriven, queue: string): string {
  const { letter } = redriven;
  const what = `${keyOf(letter) ?? `a letter on ${queue}`} (${letter.messageId})`;
  switch (redriven.type) {
    case 'sent':
      return `sent ${what}`;
    case 'would-be-sent':
      return `would send ${what}`;
    case 'kept':
      return `sent ${what}, and it could not be deleted: ${redriven.why}`;
    case 'refused':
      return `left ${what}: ${redriven.why}`;
  }
}

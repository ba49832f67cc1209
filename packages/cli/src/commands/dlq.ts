// `outrigger dlq`: lists the dead letters, and sends them to their controllers again.

import { Command } from 'commander';
import { UserError } from 'outrigger/internal/core/errors';
import { formatReconcileKey } from 'outrigger/internal/core/key';
import { resyncQueue, timersQueue } from 'outrigger/internal/core/names';
import { redact } from 'outrigger/internal/core/redact';
import { createQueueBrowser } from 'outrigger/internal/sqs/browse';
import type { DeadLetter } from 'outrigger/internal/sqs/dead-letter';
import { createDepth } from 'outrigger/internal/sqs/depth';
import { keyOfMessage } from 'outrigger/internal/sqs/message';
import { createSend } from 'outrigger/internal/sqs/send';
import { alignColumns } from '../dev/columns.ts';
import { type RedriveResult, readDeadLetters, redrive } from '../operations/redrive.ts';
import { listControllers } from '../project/list-controllers.ts';
import {
  acting,
  checkLimit,
  jsonOption,
  type Output,
  outputOption,
  printError,
  printJson,
  printLines,
} from './command.ts';
import { wantedQueues } from './dead-letter-queues.ts';
import { dlqDeleteCommand, dlqShowCommand } from './dlq-message.ts';
import {
  type Installation,
  type InstallationFlags,
  openInstallation,
  withInstallationOptions,
} from './installation.ts';
import { matchesKey, parseKey } from './parse-key.ts';
import { placeOptions } from './place.ts';

type ListFlags = InstallationFlags & {
  readonly controller?: string;
  readonly output: Output;
  readonly limit: number;
};
type RedriveFlags = InstallationFlags & {
  readonly controller?: string;
  readonly key?: string;
  readonly id?: string;
  readonly dryRun?: boolean;
};

/** Makes the command. */
export function dlqCommand(): Command {
  const list = withInstallationOptions(new Command('list'))
    .description('list the dead letters of every controller, and of timers and resync')
    .option('--controller <name>', 'only the dead letters of one controller, or of timers or resync')
    .addOption(outputOption())
    .addOption(jsonOption())
    .option('--limit <n>', 'at most this many of each queue', Number, 1000)
    .addHelpText('after', listText)
    .action(acting(runList));
  const redriven = withInstallationOptions(new Command('redrive'))
    .description('send dead letters to their controllers again, and delete them')
    .option('--controller <name>', 'only the dead letters of one controller, or of timers')
    .option(
      '--key <key>',
      'only the dead letters of one object: CONTROLLER:NAMESPACE/NAME, or a whole key as dlq list prints it',
    )
    .option('--id <id>', 'only the dead letter with this message id')
    .option('--dry-run', 'print what would be sent, and change nothing')
    .addHelpText('after', redriveText)
    .action(acting(runRedrive));
  return new Command('dlq')
    .description('dead letters: messages that are not retried any more, and why')
    .addCommand(list)
    .addCommand(dlqShowCommand())
    .addCommand(redriven)
    .addCommand(dlqDeleteCommand());
}

const listText = `
Nothing is deleted. SQS has no peek, so messages are received and released: they are in flight for a few seconds, or for
ten minutes if this command is killed. The reason "unknown" means that SQS moved the message itself, after two
days of receives: the function crashed, or could not be started.
Exit status: 0 when the list is complete, empty or not; 1 when it is not, or when that is not known.`;

const redriveText = `
Fix the cause first. Each dead letter is sent as a command, without its attempts, and deleted after that. The command
can be killed and rerun: a message that is sent twice has the same deduplication id. A dead letter whose body is not a
message stays, and so does one with an object whose finalize was not completed (outrigger dlq show). Without
--controller, --key or --id all dead letters of all controllers are sent.
Exit status 1: some were not sent, or none has the key or the id.`;

async function runList({ controller, output, limit, ...flags }: ListFlags, signal: AbortSignal): Promise<number> {
  checkLimit(limit);
  const controllers = await listControllers(process.cwd());
  const queues = wantedQueues(controllers, controller);
  using installation = await openInstallation(flags, signal);
  const found = await Promise.all(
    queues.map(async ({ name: of, deadLetterQueue: queue }) => {
      const depth = await approximateDepth(installation, queue, signal);
      const deadLetters = await readDeadLetters(createQueueBrowser(installation.sqs, installation.urlPrefix, queue), {
        most: limit,
        signal,
      });
      const listed = deadLetters.slice(0, limit);
      return { of, queue, listed, unlisted: depth === undefined ? undefined : depth - listed.length };
    }),
  );
  const rows = found.flatMap(({ of, queue, listed }) => listed.map((deadLetter) => ({ of, queue, deadLetter })));
  if (output === 'json') printJson(rows.map(toJson));
  else printLines(rows.length === 0 ? ['no dead letters'] : toTable(rows));
  const incomplete = found.filter(({ unlisted = 1 }) => unlisted > 0);
  for (const { queue, unlisted } of incomplete) {
    const more = unlisted === undefined ? 'it is not known how many' : `about ${unlisted}`;
    printError(`${queue}: ${more} more, beyond --limit, behind ten of the same object, or in flight`);
  }
  return incomplete.length === 0 ? 0 : 1;
}

async function runRedrive(
  { controller, key, id, dryRun = false, ...flags }: RedriveFlags,
  signal: AbortSignal,
): Promise<number> {
  if (key !== undefined && id !== undefined) throw new UserError('--key and --id exclude each other');
  if (controller === resyncQueue)
    throw new UserError(
      'resync is not redriven: its next run lists everything again; ' +
        `outrigger dlq delete --controller resync${placeOptions(flags)}`,
    );
  const controllers = await listControllers(process.cwd());
  // A dead letter of timers holds a controller's message. A dead letter of resync holds none.
  const ofKey = controller === timersQueue ? undefined : controller;
  const requested = key === undefined ? undefined : parseKey(key, controllers, ofKey);
  const queues = wantedQueues(controllers, controller).filter(
    ({ name }) =>
      controller !== undefined || (name !== resyncQueue && [requested?.controller ?? name, timersQueue].includes(name)),
  );
  using installation = await openInstallation(flags, signal);
  const counts = { sent: 0, 'would-be-sent': 0, kept: 0, refused: 0 };
  const send = createSend(installation.sqs, installation.urlPrefix);
  const matches = ({ messageId, message }: DeadLetter) =>
    (id === undefined || messageId === id) &&
    (requested === undefined || (message !== undefined && matchesKey(requested, keyOfMessage(message))));
  const drain = async (queue: string) => {
    const deps = {
      browser: createQueueBrowser(installation.sqs, installation.urlPrefix, queue),
      send,
      now: () => new Date(),
      at: installation.at,
    };
    for await (const redriven of redrive(deps, { matches, dryRun, signal })) {
      counts[redriven.type] += 1;
      printLines([redriveLine(redriven, queue)]);
    }
  };
  // Every queue is drained to its end, so that all received messages are released, even if one queue cannot be read.
  const results = await Promise.allSettled(queues.map(({ deadLetterQueue }) => drain(deadLetterQueue)));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  const done = dryRun ? `${counts['would-be-sent']} would be sent` : `${counts.sent + counts.kept} sent`;
  const remaining = counts.kept + counts.refused;
  printLines([`${done}${remaining === 0 ? '' : `, ${remaining} not deleted`}`]);
  const named = id === undefined ? key : id;
  if (named !== undefined && Object.values(counts).every((count) => count === 0)) {
    const [option, what] = id === undefined ? ['--key', 'key'] : ['--id', 'id'];
    throw new UserError(
      `${option} ${named}: no dead letter has this ${what}, or it is in flight; ` +
        `see outrigger dlq list${installation.at}`,
    );
  }
  return remaining === 0 ? 0 : 1;
}

/** Returns SQS's approximate count of dead letters; undefined if it cannot be read. */
async function approximateDepth(
  { sqs, urlPrefix }: Installation,
  queue: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const depth = await createDepth(sqs, urlPrefix)(queue, { signal }).catch(() => undefined);
  return depth && depth.visible + depth.inFlight;
}

type ListedLetter = { readonly of: string; readonly queue: string; readonly deadLetter: DeadLetter };

function keyOf({ message }: DeadLetter): string | undefined {
  // The names come from messages, and may contain control sequences of a terminal.
  return message === undefined ? undefined : redact(formatReconcileKey(keyOfMessage(message)));
}

function toTable(listed: readonly ListedLetter[]): readonly string[] {
  const rows = listed.map(({ of, deadLetter }) => [
    of,
    keyOf(deadLetter) ?? '-',
    deadLetter.reason,
    deadLetter.attempts === undefined ? '-' : String(deadLetter.attempts),
    deadLetter.firstSeenAt?.toISOString() ?? '-',
    deadLetter.messageId,
    deadLetter.error ?? '-',
  ]);
  // The error comes last: it may be long.
  return alignColumns([['CONTROLLER', 'KEY', 'REASON', 'ATTEMPTS', 'FIRST SEEN', 'MESSAGE ID', 'ERROR'], ...rows]);
}

function toJson({ of, queue, deadLetter }: ListedLetter): object {
  const { reason, attempts = null, error = null, messageId, body } = deadLetter;
  const firstSeenAt = deadLetter.firstSeenAt?.toISOString() ?? null;
  return {
    controller: of,
    queue,
    key: keyOf(deadLetter) ?? null,
    reason,
    attempts,
    firstSeenAt,
    error,
    messageId,
    body,
  };
}

function redriveLine(redriven: RedriveResult, queue: string): string {
  const { deadLetter } = redriven;
  const what = `${keyOf(deadLetter) ?? `a dead letter on ${queue}`} (${deadLetter.messageId})`;
  switch (redriven.type) {
    case 'sent':
      return `sent ${what}`;
    case 'would-be-sent':
      return `would send ${what}`;
    case 'kept':
      return `sent ${what}, and it could not be deleted: ${redriven.reason}`;
    case 'refused':
      return `left ${what}: ${redriven.reason}`;
  }
}

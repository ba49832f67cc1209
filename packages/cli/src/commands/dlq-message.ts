// `outrigger dlq show` and `outrigger dlq delete`: prints one dead letter with its whole message, and deletes dead
// letters that must not be sent again.
import { Command } from 'commander';
import { UserError } from 'outrigger/internal/core/errors';
import { formatReconcileKey } from 'outrigger/internal/core/key';
import { controllerDeadLetterQueue, timersDeadLetterQueue } from 'outrigger/internal/core/names';
import { redact } from 'outrigger/internal/core/redact';
import { createQueueBrowser } from 'outrigger/internal/sqs/browse';
import type { DeadLetter } from 'outrigger/internal/sqs/dead-letter';
import { keyOfMessage } from 'outrigger/internal/sqs/message';
import { deleteDeadLetters, readDeadLetters } from '../operations/redrive.ts';
import { listControllers } from '../project/list-controllers.ts';
import { acting, jsonOption, type Output, outputOption, printJson, printLines } from './command.ts';
import { wantedQueues } from './dead-letter-queues.ts';
import { type InstallationFlags, openInstallation, withInstallationOptions } from './installation.ts';
import { matchesKey, parseKey } from './parse-key.ts';

type ShowFlags = InstallationFlags & { readonly output: Output };
type DeleteFlags = InstallationFlags & {
  readonly key?: string;
  readonly id?: string;
  readonly controller?: string;
  readonly yes?: true;
};

/** Makes the command `dlq show`. */
export function dlqShowCommand(): Command {
  return withInstallationOptions(new Command('show'))
    .description('print one dead letter: reason, attempts, error, the message, and the object if it was not finalized')
    .argument('<id>', 'its message id, as dlq list prints it')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action(acting(runShow));
}

/** Makes the command `dlq delete`. */
export function dlqDeleteCommand(): Command {
  return withInstallationOptions(new Command('delete'))
    .description('delete dead letters; without --yes only print what would be deleted')
    .option('--id <id>', 'the dead letter with this message id')
    .option('--key <key>', 'the dead letters of one object: CONTROLLER:NAMESPACE/NAME, or a whole key')
    .option('--controller <name>', 'every dead letter of one controller, or of timers or resync, without an object')
    .option('--yes', 'delete')
    .addHelpText('after', deleteText)
    .action(acting(runDelete));
}

const deleteText = `
A message is a key, so a deletion loses no data: the object is reconciled at its next change, or by the resync. It is
final all the same; outrigger dlq redrive is the way back after a fix. A dead letter with an object is the exception: it
is the last record of an object that was not finalized, and redrive and --controller leave it. Delete it after the
cleanup.
Exit status: 0 when every matching dead letter is deleted; 1 when there is none, or when --yes was missing.`;

async function runShow(id: string, { output, ...flags }: ShowFlags, signal: AbortSignal): Promise<number> {
  const controllers = await listControllers(process.cwd());
  using installation = await openInstallation(flags, signal);
  for (const { deadLetterQueue: queue } of wantedQueues(controllers, undefined)) {
    const browser = createQueueBrowser(installation.sqs, installation.urlPrefix, queue);
    const found = (await readDeadLetters(browser, { most: 10_000, signal })).find((one) => one.messageId === id);
    if (found === undefined) continue;
    const shown = { queue, ...fieldsOf(found) };
    if (output === 'json') printJson(shown);
    else {
      const text = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : `${value ?? '-'}`);
      printLines(Object.entries(shown).map(([name, value]) => `${`${name}:`.padEnd(13)}${text(value)}`));
    }
    return 0;
  }
  const list = `outrigger dlq list${installation.at}`;
  throw new UserError(`no dead letter has the id ${JSON.stringify(id)}, or it is in flight; see ${list}`);
}

async function runDelete({ key, id, controller, yes, ...flags }: DeleteFlags, signal: AbortSignal): Promise<number> {
  if ([key, id, controller].filter((one) => one !== undefined).length !== 1)
    throw new UserError('give one of --id, --key and --controller');
  const controllers = await listControllers(process.cwd());
  const requested = key === undefined ? undefined : parseKey(key, controllers);
  let left = 0;
  const matches = (deadLetter: DeadLetter) => {
    const { messageId, message, object } = deadLetter;
    if (id !== undefined) return messageId === id;
    if (requested !== undefined) return message !== undefined && matchesKey(requested, keyOfMessage(message));
    if (object === undefined) return true;
    left += 1;
    printLines([`left ${fieldsOf(deadLetter).key} (${messageId}): its object was not finalized`]);
    return false;
  };
  const queues =
    requested === undefined
      ? wantedQueues(controllers, controller).map(({ deadLetterQueue }) => deadLetterQueue)
      : [controllerDeadLetterQueue(requested.controller), timersDeadLetterQueue];
  using installation = await openInstallation(flags, signal);
  let count = 0;
  for (const queue of queues) {
    const browser = createQueueBrowser(installation.sqs, installation.urlPrefix, queue);
    for await (const one of deleteDeadLetters(browser, { matches, dryRun: yes !== true, signal })) {
      count += 1;
      printLines([`${yes === true ? 'deleted' : 'would delete'} ${fieldsOf(one).key ?? queue} (${one.messageId})`]);
    }
  }
  if (count === 0 && left > 0)
    throw new UserError('nothing is deleted; a dead letter with its object needs --id or --key');
  if (count === 0)
    throw new UserError(`no dead letter matches, or it is in flight; see outrigger dlq list${installation.at}`);
  if (yes !== true) throw new UserError('nothing is deleted; give --yes');
  return 0;
}

function fieldsOf({ messageId, message, reason, attempts, error, firstSeenAt, body, object }: DeadLetter) {
  const key = message === undefined ? undefined : redact(formatReconcileKey(keyOfMessage(message)));
  const letter = {
    messageId,
    key,
    reason,
    attempts,
    error,
    firstSeenAt: firstSeenAt?.toISOString(),
    body: redact(body),
  };
  // Unchanged: an operator needs it to finish the clean-up of the controller.
  return object === undefined ? letter : { ...letter, object };
}

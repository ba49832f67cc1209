// What the stack has before a deployment, and what the deployment would lose of it: options that it does not give any
// more, and messages in the queues of controllers that are gone. CloudFormation asks in neither case.
import { GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs';
import { toError } from 'outrigger/internal/core/errors';
import { isRecord, parseJson } from 'outrigger/internal/core/json';
import { isMissingQueue } from 'outrigger/internal/sqs/call';
import { createDepth } from 'outrigger/internal/sqs/depth';
import { optionDefaults } from '../aws/deployment.ts';
import { cloudFormationOfOsls, type Provider } from './check-stack.ts';
import { OptionError } from './options.ts';
import type { Template } from './template.ts';

/** The options and settings that a deployment is given, by name. */
export type Given = Readonly<Record<string, string>>;

/** Where the template has them. */
export const metadataKey = 'OutriggerGiven';
const defaults: Given = optionDefaults;
/** It says something of one deployment. */
const once = 'DISCARD';

/** Adds what the deployment is given, for the next one: options with their values, other names without. */
export function withGiven(template: Template, given: Given): Template {
  const kept = Object.entries(given)
    .filter(([name, value]) => value !== (defaults[name] ?? '') && name !== once)
    .map(([name, value]) => [name, name in defaults ? value : '']);
  return { ...template, Metadata: { ...template.Metadata, [metadataKey]: Object.fromEntries(kept) } };
}

/** Reads the template of the stack; undefined if there is no stack. Throws OptionError if it cannot be read. */
export async function readFormer(provider: Provider): Promise<Template | undefined> {
  const StackName = provider.naming.getStackName();
  const client = await provider.getCloudFormationClient();
  const { GetTemplateCommand } = cloudFormationOfOsls();
  try {
    const { TemplateBody } = await client.send(new GetTemplateCommand({ StackName, TemplateStage: 'Original' }));
    const body: unknown = typeof TemplateBody === 'string' ? parseJson(TemplateBody) : TemplateBody;
    return isTemplate(body) ? body : undefined;
  } catch (error) {
    const { message } = toError(error);
    if (/does not exist/.test(message)) return undefined;
    // Without credentials or a network nothing is deployed, and osls says what to do.
    if (!(error instanceof Error && '$metadata' in error)) throw error;
    throw new OptionError(`the template of ${StackName} cannot be read, to see what it has: ${message}`);
  }
}

/**
 * Refuses to drop what the stack was given, such as its VPC or its key: a deployment from another shell or pipeline may
 * have forgotten it. Refuses another ROLE_PATH: roles have names, and CloudFormation makes the new one while the former
 * one has its name. Throws OptionError with the former values of options.
 * @param known the names that can be given: a controller that is gone has no settings
 */
export function checkKept(former: Template, given: Given, known: readonly string[]): void {
  const before = former.Metadata?.[metadataKey];
  if (!isRecord(before)) return;
  const [path, next] = [before, given].map(({ ROLE_PATH }) => String(ROLE_PATH || defaults.ROLE_PATH));
  if (path !== next)
    throw new OptionError(
      `ROLE_PATH: the roles of the stack have the path ${path}, which cannot change to ${next}; ` +
        `give ROLE_PATH=${path}, or deploy to another stage`,
    );
  const dropped = Object.entries(before).filter(([name]) => !(name in given) && known.includes(name));
  if (dropped.length === 0) return;
  const values = dropped.map(([name, value]) => (value === '' ? name : `${name}=${String(value)}`));
  // osls takes no empty --param.
  const drops = dropped.map(([name]) =>
    (defaults[name] ?? '') === '' ? `${name}: '' under params in serverless.yml` : `--param ${name}=${defaults[name]}`,
  );
  throw new OptionError(
    `the stack was deployed with ${values.join(' ')}, and this deployment does not say so; ` +
      `give it again with --param or in serverless.yml (params), or drop it with ${drops.join(', ')}`,
  );
}

/** A deployment that may delete queues: `prefix` begins the names of all. */
type Removal = {
  readonly former: Template;
  readonly next: Template;
  readonly prefix: string;
  readonly discard: readonly string[];
};

/**
 * Refuses to delete queues that have messages, of controllers that were removed or renamed, unless DISCARD names the
 * controller. Throws OptionError, also if the number of messages is not known.
 */
export async function checkRemovedQueues(
  provider: Provider,
  { former, next, prefix, discard }: Removal,
): Promise<void> {
  // By name: a renamed controller may have the same id, as cache-2 and cache2, and CloudFormation replaces its queue.
  const kept = queueNames(next);
  const removed = queueNames(former).filter((name) => !kept.includes(name));
  if (removed.length === 0) return;
  const client = new SQSClient(await provider.getAwsSdkV3Config());
  try {
    for (const queue of removed) {
      const controller = queue.slice(prefix.length).replace(/(-dlq)?\.fifo$/, '');
      if (discard.includes(controller)) continue;
      const messages = await messagesOf(client, queue);
      if (messages > 0)
        throw new OptionError(
          `controller ${controller}: is not in this deployment, which would delete its queue ${queue} with ` +
            `${messages} messages; keep it until they are done, or give --param DISCARD=${controller}`,
        );
    }
  } finally {
    client.destroy();
  }
}

function queueNames({ Resources }: Template): readonly string[] {
  const queues = Object.values(Resources).filter(({ Type }) => Type === 'AWS::SQS::Queue');
  return queues.map(({ Properties }) => String(Properties?.QueueName));
}

/** The messages in a queue: visible, in flight and delayed. A queue that is gone has none. */
async function messagesOf(client: SQSClient, queue: string): Promise<number> {
  const signal = AbortSignal.timeout(10_000);
  try {
    const { QueueUrl = '' } = await client.send(new GetQueueUrlCommand({ QueueName: queue }), { abortSignal: signal });
    const { visible, inFlight, delayed } = await createDepth(client, QueueUrl.slice(0, -queue.length))(queue, {
      signal,
    });
    return visible + inFlight + delayed;
  } catch (error) {
    if (isMissingQueue(error)) return 0;
    throw new OptionError(
      `this deployment deletes the queue ${queue}, and whether it has messages is not known: ${toError(error).message}`,
    );
  }
}

function isTemplate(value: unknown): value is Template {
  return isRecord(value) && isRecord(value.Resources);
}

// `outrigger replay`: one key once more; or, with --dry-run, what its reconcile would change.
import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import { createSecretReader } from '../clusters/secret-reader.ts';
import { settingSecrets } from '../clusters/setting-secrets.ts';
import type { Log } from '../core/context.ts';
import type { Registered } from '../core/controller.ts';
import { formatTarget, type TargetKey } from '../core/key.ts';
import { redact } from '../core/redact.ts';
import { parseMessage, targetOf } from '../queue/message.ts';
import { replayEntry } from '../queue/replay.ts';
import { createSend } from '../queue/send.ts';
import { createRehearse } from '../runtime/rehearse.ts';
import { type AskedKey, controllerNamed, parseAskedKey } from './parse-key.ts';
import { changeLines, outcomeLine } from './change-lines.ts';
import { clusterClient, clusterNamed } from './cluster-client.ts';
import { guardFetch } from './guard-fetch.ts';
import { OperatorProblem, operate } from './operate.ts';
import { openPlace, type Place, type PlaceFlags, withPlace } from './place.ts';
import { loadProject } from './project.ts';

type Flags = PlaceFlags & { readonly cluster?: string; readonly dryRun?: true };

/** As long as a function has. */
const rehearsalSeconds = 30;

/** Makes the command. */
export function replayCommand(): Command {
  return withPlace(new Command('replay'))
    .description('have one object reconciled once more, or show what that would change')
    .argument('<key>', 'CONTROLLER:NAMESPACE/NAME, CONTROLLER:NAME, or a whole key as logs and dlq list print it')
    .option('--cluster <name>', 'which cluster; on one machine there is only one')
    .option('--dry-run', 'send nothing; run the reconcile here with reads only, and print what it would write')
    .addHelpText('after', helpText)
    .action(
      async (key: string, flags: Flags) => await operate('replay', async (signal) => await run(key, flags, signal)),
    );
}

const helpText = `
Examples:
  outrigger replay water-tank:default/north
  outrigger replay dinner:default/friday --cluster berlin --stage dev --dry-run

A dry run runs the controller's code in this process, with your rights to the clusters table and the controller's settings
(PLANT_URL, ...) from your environment. Writes to the cluster and commands that change something are shown and not done; at
the first call by fetch that would change something outside the cluster it ends, because what follows depends on the answer.
Exit status of a dry run: 0 when the reconcile would end well, 1 when it would fail or is not known to the end.`;

async function run(text: string, { cluster, dryRun, ...flags }: Flags, signal: AbortSignal): Promise<number> {
  const { registry } = await loadProject(process.cwd());
  const asked = parseAskedKey(text, registry);
  const controller = controllerNamed(asked.controller, registry);
  const place = await openPlace(flags, signal);
  try {
    const target = targetFor(asked, controller, clusterFor(asked, cluster, place));
    const { queue, entry } = replayEntry(target, { source: randomUUID(), nowMs: Date.now() });
    if (dryRun === true) return await rehearse(controller, place, entry.body, signal);
    const [sent] = await createSend(place.sqs, place.urlPrefix)(queue, [entry], { signal });
    if (sent?.accepted !== true) throw new OperatorProblem(`not sent: ${sent?.reason ?? 'no answer'}`);
    process.stdout.write(`sent ${redact(formatTarget(target))} (${sent.messageId})\n`);
    return 0;
  } finally {
    place.close();
  }
}

async function rehearse(controller: Registered, place: Place, body: string, stop: AbortSignal): Promise<number> {
  const message = parseMessage(body);
  const client = await clusterClient(place, message.cluster);
  const signal = AbortSignal.any([stop, AbortSignal.timeout(rehearsalSeconds * 1000)]);
  const now = () => new Date();
  const running = controller.start(place.environment, settingSecrets(createSecretReader({ now })));
  const played = createRehearse({ controller, running, client, log: warnings, now });
  let outside: { readonly call: string; readonly after: number } | undefined;
  using _ = guardFetch((call) => {
    outside ??= { call, after: played.changes().length };
  });
  const { outcome, changes, keys } = await played.run(message, { signal });
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  say(`dry run of ${redact(formatTarget(targetOf(message)))}: nothing is written`);
  for (const change of changes.slice(0, outside?.after)) changeLines(change).forEach(say);
  for (const key of keys) say(`send ${redact(formatTarget(targetOf(key)))}`);
  if (outside !== undefined) {
    say(`it would call ${redact(outside.call)}, which is not done here; what follows depends on the answer`);
    return 1;
  }
  if (changes.length + keys.length === 0) say('no change');
  say(outcomeLine(outcome));
  return outcome.type === 'done' || outcome.type === 'nothing' ? 0 : 1;
}

function clusterFor({ cluster }: AskedKey, given: string | undefined, place: Place): string {
  if (cluster !== undefined && given !== undefined && cluster !== given) {
    throw new OperatorProblem(`the key is in cluster ${cluster}, and --cluster says ${given}`);
  }
  return clusterNamed(given ?? cluster, place);
}

/** The whole key. Throws OperatorProblem for one that no object of the controller can have. */
function targetFor(asked: AskedKey, { name, declares }: Registered, cluster: string): TargetKey {
  const mapped = declares.watches.map(({ kind }) => kind);
  const { group = declares.resource.group, resource = declares.resource.plural, namespace } = asked;
  const kind = [declares.resource, ...mapped].find((one) => one.group === group && one.plural === resource);
  if (kind === undefined) throw new OperatorProblem(`${name} has nothing to do with ${resource}.${group}`);
  if (kind.namespaced !== (namespace !== undefined)) {
    const form = kind.namespaced ? `${name}:NAMESPACE/${asked.name}` : `${name}:${asked.name}`;
    const lives = kind.namespaced ? 'lives in a namespace' : 'lives in no namespace';
    throw new OperatorProblem(`a ${kind.kind} ${lives}; write ${form}`);
  }
  const where = namespace === undefined ? {} : { namespace };
  return { controller: name, cluster, group, resource, ...where, name: asked.name };
}

/** What a person should know; the rest of what a function logs is in the diff. */
const warnings: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: (message) => void process.stderr.write(`warning: ${redact(message)}\n`),
  error: (message) => void process.stderr.write(`error: ${redact(message)}\n`),
};

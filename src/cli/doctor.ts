// `outrigger doctor`: looks at everything that a deployment needs, and says of what is not as it should be how to mend it.
import { access } from 'node:fs/promises';
import { Command } from 'commander';
import type { Registered } from '../core/controller.ts';
import { checkAccount } from './doctor/check-account.ts';
import { checkCluster } from './doctor/check-cluster.ts';
import { checkQueues } from './doctor/check-queues.ts';
import { expectedQueues } from './doctor/expected-queues.ts';
import { type Finding, findingLines, ok, warning, wrong } from './doctor/finding.ts';
import { generate } from './generate.ts';
import { lineOf, operate } from './operate.ts';
import { type Output, outputOption, printJson, printLines } from './output.ts';
import { openPlace, type Place, type PlaceFlags, withPlace } from './place.ts';
import { loadProject, type Project } from './project.ts';

type Flags = PlaceFlags & { readonly cluster?: string; readonly output: Output };

/** Makes the command. */
export function doctorCommand(): Command {
  return withPlace(new Command('doctor'))
    .description(
      'look at credentials, queues, functions, clusters, rights and versions, and say how to mend what is wrong',
    )
    .option('--cluster <name>', 'only this cluster')
    .addOption(outputOption())
    .addHelpText('after', helpText)
    .action(async (flags: Flags) => await operate('doctor', async (signal) => await run(flags, signal)));
}

const helpText = `
Examples:
  outrigger doctor                      the system that runs here (outrigger dev)
  outrigger doctor --stage prod
  outrigger doctor --stage prod --output json | jq '.[] | select(.state != "ok")'

It looks, with your credentials, and changes nothing:
  queues       each is there, with the attributes that it is deployed with, and without dead letters
  functions    each queue has one that is not paused; together they want no more concurrency than the account has (on AWS only)
  clusters     each answers, is new enough, serves the kinds, gives the functions their rights, and has watchers that hear something
  this folder  the Node that functions run on, and generated files that are as the registry says
Exit status: 0 when nothing is wrong, 1 when something is; what only somebody should look at does not count.`;

async function run({ cluster, output, ...flags }: Flags, signal: AbortSignal): Promise<number> {
  const root = process.cwd();
  const project = await loadProject(root);
  const { registry } = project;
  const place = await openPlace(flags, signal);
  try {
    const deploy =
      place.on === 'AWS'
        ? `what was never deployed: npx osls deploy --stage ${flags.stage ?? 'STAGE'}`
        : 'start outrigger dev anew';
    const parts = await Promise.all([
      checkFolder(root, project),
      checkQueues(place, await expectedQueues(registry, root), { deploy, signal }),
      place.on === 'AWS' ? checkAccount(place, registry, { deploy, signal }) : [],
      checkClusters(place, registry, cluster, signal),
    ]);
    const findings = [...where(place), ...parts.flat()];
    if (output === 'json') printJson(findings);
    else printLines(findingLines(findings));
    return findings.some(({ state }) => state === 'wrong') ? 1 : 0;
  } finally {
    place.close();
  }
}

/** That the queues could be found says that there are credentials, and whose. */
function where({ on, urlPrefix }: Place): readonly Finding[] {
  const [account = ''] = /\d{12}/.exec(urlPrefix) ?? [];
  return on === 'AWS' ? [ok('credentials', `accepted; the deployment is in account ${account}`)] : [];
}

async function checkFolder(root: string, { registry, kindsAlone }: Project): Promise<readonly Finding[]> {
  const [major = 0] = process.versions.node.split('.').map(Number);
  const node =
    major >= 24
      ? ok('node', process.version)
      : warning('node', `${process.version}; functions run on 24`, 'run it by npx outrigger, after npm ci');
  const isProject = await access('infra').then(
    () => true,
    () => false,
  );
  if (!isProject) return [node];
  try {
    const stale = await generate(registry, root, { check: true, kinds: kindsAlone });
    if (stale.length === 0) return [node, ok('generated files', 'as the registry says')];
    return [
      node,
      warning('generated files', `${stale.length} are not as the registry says`, 'npm run generate, and deploy'),
    ];
  } catch (error) {
    return [node, wrong('generated files', lineOf(error), 'mend the registry')];
  }
}

async function checkClusters(
  place: Place,
  registry: readonly Registered[],
  only: string | undefined,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { table, clusters } = place;
  if (table === undefined || clusters === undefined) {
    return [warning('clusters', 'nobody says where the clusters table is', 'set CLUSTERS, or give --stage')];
  }
  try {
    const names = only === undefined ? await table.list() : [only];
    if (names.length === 0) return [warning('clusters', 'the table is empty', 'add one: see Deploy in the README')];
    const found = await Promise.all(names.map((name) => checkEntry(place, registry, name, signal)));
    return found.flat();
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return [wrong('clusters', 'the table cannot be read', lineOf(error))];
  }
}

async function checkEntry(
  { clusters }: Place,
  registry: readonly Registered[],
  name: string,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const about = `cluster ${name}`;
  try {
    const found = await clusters?.find(name);
    if (found?.type === 'client') return await checkCluster(name, found.client, registry, { signal });
    if (found?.type === 'leaving') {
      return [
        warning(
          about,
          'is leaving: its messages are deleted',
          'when its queues are empty, take its entry out of the table',
        ),
      ];
    }
    return [wrong(about, 'is not in the clusters table', 'name one with --cluster that is there: outrigger status')];
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return [wrong(about, 'its entry cannot be used', lineOf(error))];
  }
}

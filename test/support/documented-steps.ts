// The proof of each command of the documents. There are three lists: commands that test/cluster/documented.test.ts runs
// verbatim, in the order of the documents; commands that another test or CI runs; and commands that no test runs,
// with the reason.

/** A command that is run verbatim, the output that it must show, and its permitted exit statuses. Default: 0. */
export type Step = { readonly command: string; readonly shows: RegExp; readonly statuses?: readonly number[] };

/** In a separate clone, before the demo: the README's cafe, added manually as CONTRIBUTING.md describes. */
export const cafeSteps: readonly Step[] = [
  { command: 'npx outrigger manifests --out k8s/base', shows: /^\d+ files in k8s\/base/m },
  { command: 'npx outrigger manifests --out k8s/base --check', shows: /^$/ },
  { command: 'npm run bench -- --only f9', shows: /^f9 +a million reconciles/m },
];

/** Runs in the background while the other commands run. */
export const demoCommand = 'npm run demo';
/** Holds for every later command. */
export const exportCommand = 'export KUBECONFIG=.outrigger/kubeconfig';

/** While the demo runs. */
export const demoSteps: readonly Step[] = [
  { command: 'npx outrigger dev --help', shows: /--queue-endpoint/ },
  {
    command: 'kubectl get watertanks,ingredients,dinners',
    shows: /watertank\S*\/north(.|\n)*ingredient\S*\/salt(.|\n)*dinner\S*\/risotto/,
  },
  {
    command: `kubectl patch watertank north --type merge -p '{"spec":{"targetLevel":20}}'`,
    shows: /watertank\S*\/north patched/,
  },
  {
    command:
      'kubectl apply -f - <<END\napiVersion: cafe.example.com/v1\nkind: Cafe\nmetadata: {name: central}\nspec: {seats: 25}\nEND',
    shows: /cafe\S*\/central created/,
  },
  {
    command: 'kubectl get cafes,deployments,pods',
    shows: /cafe\S*\/central(.|\n)*deployment\.apps\/central(.|\n)*pod\/central-/,
  },
  { command: 'npx outrigger status', shows: /^local +v1\S+ +last seen(.|\n)*^local +cafe +1 /m },
  { command: 'npx outrigger status --controller water-tank', shows: /^local +water-tank /m },
  { command: 'npx outrigger doctor', shows: /cluster local/ },
  { command: 'npx outrigger dlq list', shows: /no dead letters/ },
  {
    command: 'npx outrigger replay water-tank:default/north --dry-run',
    shows: /^dry run of \S+north: nothing is written$/m,
    // While the water moves, a valve command may be due. A dry run does not send it, and exits with 1.
    statuses: [0, 1],
  },
  { command: 'kubectl annotate watertank north outrigger.dev/paused=true', shows: /watertank\S*\/north annotated/ },
  { command: 'kubectl annotate watertank north outrigger.dev/paused-', shows: /watertank\S*\/north annotated/ },
  {
    command: 'kubectl annotate watertank north --overwrite outrigger.dev/reconcile-requested-at=now',
    shows: /watertank\S*\/north annotated/,
  },
];

/** Runs until it is stopped. The test waits for its first line. */
export const watchStep: Step = { command: 'kubectl get watertank north -w', shows: /north/ };

/** On a real cluster. */
export const clusterSteps: readonly Step[] = [
  { command: 'npx outrigger manifests --replicas 0', shows: /^\d+ files in dist\/kubernetes/m },
  {
    command: 'kubectl apply --server-side -k dist/kubernetes',
    shows: /clusterrole\S*\/outrigger-watcher serverside-applied(.|\n)*deployment\.apps\/outrigger-watcher serverside/,
  },
  { command: 'npx outrigger manifests', shows: /^\d+ files in dist\/kubernetes/m },
  { command: 'kubectl get pods --namespace outrigger-system', shows: /No resources|outrigger-watcher/ },
  { command: 'kubectl describe pods --namespace outrigger-system', shows: /No resources|outrigger-watcher/ },
  {
    command: 'kubectl rollout restart deployment/outrigger-watcher --namespace outrigger-system',
    shows: /outrigger-watcher restarted/,
  },
];

/** Runs every command of the page. */
const tutorial = ['test/deploy/tutorial.test.ts', "stepsOf('docs/tutorial.md')"] as const;

/** Commands that something else runs: the file, and a text in it that shows where. */
export const testedElsewhere: Readonly<Record<string, readonly [file: string, text: string]>> = {
  'npx outrigger import crd crds.yaml': ['test/cli/import-crd.test.ts', "importCrd('crds.yaml'"],
  'npx outrigger dlq show ID --json': ['test/cli/dlq.test.ts', "'dlq', 'show', 'gone-1', '--json'"],
  'npx outrigger dlq delete --id ID --yes': ['test/cli/dlq.test.ts', "'--id', 'original-1', '--yes'"],
  'outrigger wake': ['test/cli/replay.test.ts', "system.run('wake'"],
  'npx outrigger wake event.json': ['test/cli/replay.test.ts', "system.run('wake'"],
  'outrigger reconcile': ['test/cli/replay.test.ts', "'reconcile', 'water-tank:default/north'"],
  'npx outrigger reconcile water-tank:default/north': [
    'test/cli/replay.test.ts',
    "'reconcile', 'water-tank:default/north'",
  ],
  'npm ci': ['.ci/run', "step 'npm ci' npm ci"],
  'npm run check': ['.ci/run', "step 'npm run check' npm run check"],
  'npm test': ['.ci/run', 'tier test test'],
  'npm run test:process': ['.ci/run', 'tier test:process run test:process'],
  'npm run test:console': ['.ci/run', 'tier test:console run test:console'],
  'npm run demo -- --open': ['test/cli/open-in-browser.test.ts', 'openInBrowser('],
  'npm run test:cluster': ['.ci/run', 'tier test:cluster run test:cluster'],
  'npm run test:deploy': ['.ci/run', 'tier test:deploy run test:deploy'],
  'npm run chaos': ['.ci/run', 'npm run chaos -- --ci'],
  'npm run chaos -- --ci': ['.ci/run', 'npm run chaos -- --ci'],
  'npm run chaos:fleet': ['.ci/run', 'npm run chaos:fleet -- --ci'],
  'npm run chaos:fleet -- --ci': ['.ci/run', 'npm run chaos:fleet -- --ci'],
  'npm run soak': ['.ci/run', 'npm run soak -- --ci'],
  'npm run demo -- --keep': ['test/journey/first-hour.test.ts', "'--keep'"],
  'npm run docs': ['.ci/run', "step 'npm run docs' npm run docs"],
  'npm run demo -- --until-ready': ['test/journey/demo.test.ts', "'--until-ready'"],
  'npm run demo -- --simulator-fault pantry=down': ['test/journey/demo.test.ts', "'pantry=down'"],
  'npm run demo -- --attempts 3 --retry-after 1 --simulator-fault pantry=down': [
    'test/journey/demo.test.ts',
    "'--attempts'",
  ],
  'npm run demo -- --attempts 3 --retry-after 1': ['test/journey/demo.test.ts', "'--attempts'"],
  'npm run demo -- --apply FILE': ['test/journey/demo.test.ts', "'--apply', samples"],
  'npm run demo -- --kubeconfig FILE [--context NAME]': ['test/cluster/uninstall.test.ts', "'--kubeconfig'"],
  'npm run demo -- --queue-endpoint URL': ['test/journey/two-projects.test.ts', "'--queue-endpoint'"],
  'npm run examples': ['test/journey/examples.test.ts', 'test/outside/main.ts'],
  'npx outrigger new controller --example cron-job': ['test/cli/new/example.test.ts', "'--example'"],
  'npx outrigger new controller Cafe': ['test/cli/new/new-controller.test.ts', "'new', 'controller'"],
  'npm run pack': ['tools/troubleshooting/packed-package.ts', "'pack'"],
  'npm init --yes': tutorial,
  'npm install ../packed/*.tgz': tutorial,
  'npx outrigger new project --yes': tutorial,
  'npm install': tutorial,
  'npx outrigger detach WaterTank --kubeconfig admin.yaml --yes': [
    'test/cluster/uninstall.test.ts',
    'detachCommand(), argv',
  ],
  'kubectl delete -k dist/kubernetes': ['test/cluster/uninstall.test.ts', "'delete', '-k', manifests"],
  'outrigger dev': ['tools/troubleshooting/run-dev.ts', "[program, 'dev', ...options]"],
  'npx outrigger doctor --cluster local': ['test/cli/doctor/doctor-clusters.test.ts', "'--cluster'"],
  'outrigger doctor --cluster NAME': ['test/cli/doctor/doctor-clusters.test.ts', "'--cluster'"],
  'npx outrigger cost --clusters 50 --objects 10000 --changes 1000000': [
    'test/cli/cost.test.ts',
    "'--objects', '10000'",
  ],
  'npx outrigger deployer-policy --stage prod': ['test/cli/deployer-policy.test.ts', "['--stage', stage]"],
  'outrigger verify': ['test/deploy/first-month.test.ts', 'home.run(verifyCommand()'],
  'npm run bench -- --quick': ['.ci/run', 'npm run bench -- --quick'],
  'npx outrigger new controller Site': ['test/cli/new/new-controller.test.ts', "'new', 'controller'"],
  'npx outrigger explain CONTROLLER': ['test/cli/key-commands.test.ts', "run('explain', 'water-tank')"],
  'npx outrigger explain KEY': ['test/cli/key-commands.test.ts', "run('explain'"],
  'npx outrigger history KEY': ['test/cli/key-commands.test.ts', "run('history'"],
  'npx outrigger explain water-tank:default/north': ['test/cli/key-commands.test.ts', "run('explain'"],
  'npx outrigger history water-tank:default/north': ['test/cli/key-commands.test.ts', "run('history'"],
  'outrigger logs KEY': ['test/cli/key-commands.test.ts', "run('logs'"],
  'npx outrigger status --watch': ['test/cli/completion.test.ts', "'--watch'"],
  'npx outrigger build --cloudformation --stage prod --param MONITORING=lean': [
    'test/deploy/other-tools.test.ts',
    'writeCloudFormation(service.folder',
  ],
  'npx outrigger replay ingredient:default/salt --dry-run': ['test/cli/replay.test.ts', "'--dry-run'"],
  'npx outrigger dlq redrive --controller ingredient --dry-run': ['test/cli/dlq.test.ts', "'redrive'"],
  'npx outrigger dlq redrive --controller ingredient': ['test/cli/dlq.test.ts', "'redrive'"],
  'npx outrigger dlq redrive --controller water-tank --dry-run': ['test/cli/dlq.test.ts', "'--dry-run'"],
  'npx outrigger dlq redrive --controller water-tank': ['test/cli/dlq.test.ts', "'redrive', '--controller'"],
  'npx outrigger dlq redrive --key water-tank:default/north': ['test/cli/dlq.test.ts', "'redrive', '--key'"],
  'npx outrigger versions migrate WaterTank --kubeconfig admin.yaml': [
    'test/cli/versions.test.ts',
    "'versions', 'migrate'",
  ],
  'npx outrigger detach WaterTank': ['test/cli/detach.test.ts', 'nothing was changed; '],
  'outrigger build --cloudformation': ['test/deploy/other-tools.test.ts', 'writeCloudFormation(service.folder'],
  'outrigger build --chart': ['test/cluster/chart.test.ts', 'writeChart(folder'],
  'npx outrigger build --chart': ['test/cluster/chart.test.ts', 'writeChart(folder'],
  'helm uninstall': ['test/cluster/chart.test.ts', "'uninstall', 'outrigger-watcher'"],
  'npx osls package': ['test/generate/overrides.test.ts', "service.osls(['package'"],
  'outrigger build': ['test/cli/build.test.ts', "describe('build'"],
  'outrigger manifests': ['test/cluster/documented.test.ts', 'of clusterSteps'],
  'outrigger clusters': ['test/cli/clusters/edit.test.ts', "run('list'"],
  'outrigger clusters add NAME FILE --replace': ['test/cli/clusters/edit.test.ts', "'--replace'"],
  'outrigger console --stage NAME': ['test/deploy/console.test.ts', "'console', '--stage'"],
  'outrigger clusters decommission NAME': ['test/cli/clusters/decommission.test.ts', "run('decommission'"],
  'outrigger clusters decommission NAME --leave-objects': [
    'test/cli/clusters/decommission.test.ts',
    "'--leave-objects'",
  ],
  'outrigger clusters move NAME --stage FROM --to STAGE': ['test/cli/clusters/move/move.test.ts', 'moveCluster(mortal'],
  'outrigger clusters access': ['test/cli/clusters/clusters.test.ts', "'access'"],
};

/** Commands that no test runs, because they take long or call an external service: the reason. */
export const untestedCommands: Readonly<Record<string, string>> = {
  'npm run console-load': 'is a measurement of five minutes',
  'npm run console-tasks': 'is a measurement of five minutes, which fails where a task does not reach its end',
  'npm run console-broken':
    'is a measurement of a quarter of an hour, which fails where a view does not name the cause',
  'npm run screenshots': 'minutes, and a person looks at the pictures; test/console/browser tests its parts',
  'npm run recordings': 'as npm run screenshots',
  'npm run cluster': 'runs until it is stopped; every test of test/cluster runs on what it starts',
  'npm run threat-tests': 'minutes; what it runs is in the other tiers, and its list is a structure test',
  'npm run mutate': 'an hour; its parts are tested in tools/mutants',
  'npm run mutate -- cafe': 'minutes, and needs two mutants of the cafe; its parts are tested in tools/mutants',
  'npm run mutate:stryker -- core': 'an hour, and fetches Stryker from npm',
  'npm run mutate:stryker -- FOLDER': 'up to an hour, and fetches Stryker from npm',
  'npm run bench': 'hours, and measures; test/structure/bench-contest.test.ts tests how it handles peers that fail',
  'npm run bench -- --only f2': 'as npm run bench',
  'npm run bench -- --only f2 --peers Outrigger': 'as npm run bench',
  'npm run bench -- --only fleet': 'a quarter of an hour, and measures: nothing else should run at the same time',
  'npm run bench -- --only scale --write docs/scale.md': 'test/structure/scale.test.ts computes the tables again',
  'npm run bench -- --only f9-measure --only f9 --write docs/records/cost.md':
    'measures: nothing else should run at the same time',
  'npm run chaos -- --real': 'most of an hour; --ci is a part of it',
  'npm run chaos -- --full --keep FILE --write docs/records/reliability.md': 'hours; --ci is a part of it',
  'npm run chaos -- --only TEXT --seed N': 'as long as the row; --ci is a part of it',
  'npm run chaos -- --only TEXT --keep FILE --write docs/records/reliability.md --record NAME':
    'as long as the rows; --ci is a part of it',
  'npm run chaos:fleet -- --write docs/records/reliability.md': 'twenty minutes; --ci is a part of it',
  'npm run soak -- --write docs/records/reliability.md': 'half an hour; --ci is a minute of it',
  'npm audit --omit=dev': 'asks the registry for new advisories',
};

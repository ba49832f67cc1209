// What is behind each command of the documents: those that a test runs to the letter, in the order of somebody who follows them
// (test/cluster/documented.test.ts); those that another test or CI runs; and those that nobody waits for.

/** A command that is run to the letter, what it must show, and how it may end; with 0 if that is not said. */
export type Step = { readonly command: string; readonly shows: RegExp; readonly statuses?: readonly number[] };

/** In a clone of its own, before the demo: the README's cafe, by hand. */
export const byHand: readonly Step[] = [
  { command: 'cp src/examples/cafe.ts src/controllers/', shows: /^$/ },
  { command: 'sed s/dinner/cafe/g functions/dinner.ts > functions/cafe.ts', shows: /^$/ },
  { command: 'sed s/examples/controllers/ test/examples/cafe.test.ts > test/controllers/cafe.test.ts', shows: /^$/ },
  { command: 'npm run generate', shows: /crd-cafes\.cafe\.example\.com\.yaml/ },
  { command: 'npm run bench -- --only f9', shows: /^f9 +a million reconciles/m },
];

/** In the background, while the others run. */
export const demo = 'npm run demo';
/** For every command after it. */
export const exported = 'export KUBECONFIG=.outrigger/kubeconfig';

/** While the demo runs. */
export const onDemo: readonly Step[] = [
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
  { command: 'npx outrigger status', shows: /^local +v1\S+ +heard(.|\n)*^local +cafe +1 /m },
  { command: 'npx outrigger status --controller water-tank', shows: /^local +water-tank /m },
  { command: 'npx outrigger doctor', shows: /cluster local/ },
  { command: 'npx outrigger doctor --cluster local', shows: /cluster local/ },
  { command: 'npx outrigger dlq list', shows: /no dead letters/ },
  { command: 'npx outrigger dlq redrive --key water-tank:default/north', shows: /^0 sent$/m },
  { command: 'npx outrigger dlq redrive --controller water-tank --dry-run', shows: /^0 would be sent$/m },
  { command: 'npx outrigger dlq redrive --controller water-tank', shows: /^0 sent$/m },
  {
    command: 'npx outrigger replay water-tank:default/north --dry-run',
    shows: /^dry run of \S+north: nothing is written$/m,
    // As long as its water moves, a valve may be due, and that is not done in a dry run.
    statuses: [0, 1],
  },
  // Without --yes it only says what is there.
  { command: 'npx outrigger release WaterTank', shows: /^nothing was changed; /m, statuses: [1] },
];

/** Goes on until somebody stops it; its first line is waited for. */
export const following: Step = { command: 'kubectl get watertank north -w', shows: /north/ };

/** On a real cluster. */
export const onCluster: readonly Step[] = [
  {
    command: 'kubectl apply --server-side -k infra/kubernetes/generated',
    shows: /clusterrole\S*\/outrigger-watcher serverside-applied/,
  },
  {
    command: 'kubectl apply --server-side -k infra/kubernetes',
    shows: /deployment\.apps\/outrigger-watcher serverside-applied/,
  },
  { command: 'kubectl get pods --namespace outrigger-system', shows: /No resources|outrigger-watcher/ },
  { command: 'kubectl describe pods --namespace outrigger-system', shows: /No resources|outrigger-watcher/ },
  {
    command: 'kubectl rollout restart deployment/outrigger-watcher --namespace outrigger-system',
    shows: /outrigger-watcher restarted/,
  },
];

/** Run by something else: the file, and a text of it that shows where. */
export const elsewhere: Readonly<Record<string, readonly [file: string, text: string]>> = {
  'npm ci': ['.ci/run', "step 'npm ci' npm ci"],
  'npm run check': ['.ci/run', "step 'npm run check' npm run check"],
  'npm test': ['.ci/run', 'tier test test'],
  'npm run test:cluster': ['.ci/run', 'tier test:cluster run test:cluster'],
  'npm run test:deploy': ['.ci/run', 'tier test:deploy run test:deploy'],
  'npm run chaos': ['.ci/run', 'npm run chaos -- --ci'],
  'npm run chaos -- --ci': ['.ci/run', 'npm run chaos -- --ci'],
  'npm run soak': ['.ci/run', 'npm run soak -- --ci'],
  'npm run demo -- --until-ready': ['test/journey/demo.test.ts', "'--until-ready'"],
  'npm run demo -- --world-fault pantry=down': ['test/journey/demo.test.ts', "'pantry=down'"],
  'npm run demo -- --apply FILE': ['test/journey/demo.test.ts', "'--apply', samples"],
  'npm run demo -- --kubeconfig FILE [--context NAME]': ['test/cluster/demo.test.ts', "'--kubeconfig'"],
  'npm run demo -- --queue-endpoint URL': ['test/journey/demo.test.ts', "'--queue-endpoint'"],
  'npx outrigger new controller Cafe': ['test/cli/new-controller.test.ts', "'new', 'controller'"],
  'npm pack': ['test/deploy/package.test.ts', "'pack'"],
  'npm init --yes': ['test/deploy/package.test.ts', "npm('init', '--yes')"],
  'npm install ../outrigger-0.1.0.tgz': ['test/deploy/package.test.ts', "path.join('..', tarball)"],
  'npx outrigger new project': ['test/deploy/package.test.ts', "'outrigger', 'new', 'project'"],
  'outrigger new project': ['test/deploy/package.test.ts', "'outrigger', 'new', 'project'"],
  'npm install': ['test/deploy/package.test.ts', "npm('install', '--prefer-offline', '--no-audit', '--no-fund')"],
  'npx outrigger': ['test/deploy/package.test.ts', "'outrigger', 'new', 'project'"],
  'npx outrigger release WaterTank --kubeconfig admin.yaml --yes': [
    'test/cluster/uninstall.test.ts',
    "'release', kind",
  ],
  'kubectl delete -k infra/kubernetes': ['test/cluster/uninstall.test.ts', "'delete', '-k', manifests"],
  'outrigger dev': ['test/journey/demo.test.ts', "'src/cli/main.ts', 'dev'"],
  'outrigger doctor --cluster NAME': ['test/cli/doctor-of-clusters.test.ts', "'--cluster'"],
  'npm run bench -- --quick': ['.ci/run', 'npm run bench -- --quick'],
  'outrigger clusters access': ['test/cli/clusters.test.ts', "'access'"],
};

/** Not waited for by any test, or asking somebody outside: why. */
export const unattended: Readonly<Record<string, string>> = {
  'npm run cluster': 'runs until it is stopped; what it starts is what every test of test/cluster runs on',
  'npm run mutate': 'an hour; its parts are tested in test/mutants',
  'npm run mutate -- cafe': 'minutes, and only for who has written the bugs; its parts are tested in test/mutants',
  'npm run bench': 'hours, and measures; test/structure/bench-contest.test.ts has what it does about peers that fail',
  'npm run bench -- --only f2': 'as npm run bench',
  'npm run bench -- --only f2 --peers Outrigger': 'as npm run bench',
  'npm run bench -- --only fleet': 'a quarter of an hour, and measures, which nothing should be beside',
  'npm run bench -- --only f9-measure --only f9 --write docs/cost.md': 'measures, which nothing should be beside',
  'npm run chaos -- --real': 'most of an hour; --ci is a part of it',
  'npm run chaos -- --full --keep FILE --write docs/reliability.md': 'hours; --ci is a part of it',
  'npm run chaos -- --only TEXT --seed N': 'as long as the row; --ci is a part of it',
  'npm run soak -- --write docs/reliability.md': 'half an hour; --ci is two minutes of it',
  'npm audit --omit=dev': 'asks the registry for what was found since',
};

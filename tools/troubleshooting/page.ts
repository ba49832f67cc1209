// docs/troubleshooting.md: what `outrigger dev`, `status`, `doctor` and `kubectl get` show for each common trouble, from
// a run of each. Times, ports and process ids are replaced, so that two runs make the same page.
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startApiServer } from '@outrigger/apiserver';
import * as z from 'zod';
import { environment } from '../../src/settings.ts';
import { makeProject, ownUnservedKind, type Project } from './project.ts';
import { startRefusingProxy } from './refusing-proxy.ts';
import { type RunningDev, runCommand, runProgram, startDev, succeed } from './run-dev.ts';

/** A trouble: its name, what it is, what to do, and what each program shows. */
type Section = {
  readonly title: string;
  readonly means: string;
  readonly shows: Readonly<Record<string, readonly string[]>>;
};

/** A way of the controller to fail, and the wait for its last reconcile. */
const failures = [
  {
    does: 'throw',
    title: 'A reconcile throws',
    means:
      'The error is retried with growing delays; after the last attempt the key is a dead letter. Fix the source and save it, then [redrive](alarms/dead-letters.md) it.',
  },
  {
    does: 'hang',
    title: 'A reconcile hangs',
    means:
      'The reconcile was still running after its deadline, so its process was ended. Pass `signal` to everything that waits.',
  },
  {
    does: 'return rubbish',
    title: 'A reconcile returns something else',
    means: 'The result does not match the status schema: the message has the path of the field.',
  },
  {
    does: 'ask outside',
    title: 'The outside system is down',
    means: 'The error has the address and the reason of the operating system. Nothing is lost: the key is retried.',
  },
  {
    does: 'take a child',
    title: 'A child is not owned',
    means:
      'An object of that name exists, and is not a child of this object. It is not changed. Delete it, apply with [`adopt: true`](write/children.md#names-that-are-taken), or choose another name.',
  },
] as const;

/** Makes the page. Takes a minute or two. */
export async function troubleshootingPage(kubectlProgram: string): Promise<string> {
  const project = await makeProject(kubectlProgram);
  try {
    const sections = [...(await onOneMachine(project)), ...(await withoutPermission(project))];
    const unserved = await withoutKind(project);
    return pageOf([...sections, ...unserved], project);
  } finally {
    await project.remove();
  }
}

const options = ['--attempts', '2', '--retry-after', '1', '--no-resync'];
const settleMilliseconds = 150_000;
/** A reconcile of an object that no retry follows. */
const lastRun = (name: string) => new RegExp(`lamp/${name} +ran because .* failed: (?!.*next in)`);

async function onOneMachine(project: Project): Promise<readonly Section[]> {
  const dev = startDev(project, ...options);
  try {
    await dev.until(/everything runs/);
    const server = await serverOf(project);
    await create(server, '/api/v1/namespaces/default/configmaps', { metadata: { name: 'theirs' } });
    const sections: Section[] = [];
    for (const { does, title, means } of failures) {
      sections.push({ title, means, shows: await failAnObject(project, dev, server, does) });
    }
    const second = await runCommand(project, 'dev');
    sections.push({
      title: 'A second outrigger dev',
      means: 'Each folder has one local system. A second one would replace its kubeconfig and delete it at its end.',
      shows: { terminal: second.lines },
    });
    const { port } = new URL(server);
    const taken = await runCommand(project, 'dev', '--folder', '.second', '--api-port', port);
    sections.push({
      title: 'A port is taken',
      means: 'Without the option a free port is chosen.',
      shows: { terminal: taken.lines.filter((line) => line.startsWith('outrigger')) },
    });
    await rm(path.join(project.folder, '.second'), { recursive: true, force: true });
    sections.push(await withoutCrd(project, dev));
    return sections;
  } finally {
    await dev.stop();
  }
}

const ofObject = (name: string) => [
  ...['--field-selector', `involvedObject.name=${name}`],
  ...['--output', 'custom-columns=TYPE:.type,REASON:.reason,MESSAGE:.message'],
];

const lamps = '/apis/shop.example.com/v1/namespaces/default/lamps';

/** Creates a lamp that fails, and returns what each program shows after its last attempt. */
async function failAnObject(
  project: Project,
  dev: RunningDev,
  server: string,
  does: string,
): Promise<Section['shows']> {
  const name = does.replaceAll(' ', '-');
  const mark = dev.mark();
  await create(server, lamps, { apiVersion: 'shop.example.com/v1', kind: 'Lamp', metadata: { name }, spec: { does } });
  await dev.until(lastRun(name), mark);
  const printed = await dev.until(new RegExp(`status +lamp/${name} +not Ready \\((RetriesExhausted|NotOwned)`), mark);
  await untilDeadLetter(project, name);
  const shows = {
    terminal: reportOf(printed, name),
    ...(await commandsShow(project)),
    'kubectl get lamps': await kubectl(project, 'get', 'lamps', name),
    'kubectl get events': await kubectl(project, 'get', 'events', ...ofObject(name)),
  };
  await fetch(`${server}${lamps}/${name}`, { method: 'DELETE' });
  await succeed(project, 'dlq', 'delete', '--key', `lamp:default/${name}`, '--yes');
  return shows;
}

/**
 * Waits for the dead letter of a lamp, which the doctor counts. It is sent after the status, or, when the process had to
 * end before that, after one more reconcile.
 */
async function untilDeadLetter(project: Project, name: string): Promise<void> {
  const signal = AbortSignal.timeout(settleMilliseconds);
  while (!(await succeed(project, 'dlq', 'list')).some((line) => line.includes(`/${name}`))) signal.throwIfAborted();
}

/** The lines of the first failed reconcile with its stack, and of the status. */
function reportOf(lines: readonly string[], name: string): readonly string[] {
  const start = lines.findIndex((line) => line.includes(`lamp/${name} `) && line.includes(' failed: '));
  const isContinuation = (line = '') => line.startsWith('     ');
  const report = [lines[start] ?? ''];
  for (let at = start + 1; isContinuation(lines[at]); at += 1) report.push(lines[at] ?? '');
  const exits = lines.filter((line) => line.includes('process exits'));
  const statuses = lines.filter((line) => /^\S+ +status +lamp/.test(line));
  return [...report, ...exits.slice(0, 1), ...statuses.slice(-1)];
}

/** What `outrigger status` and `outrigger doctor` show of a problem, with their exit status. */
async function commandsShow(project: Project): Promise<Section['shows']> {
  const signal = AbortSignal.timeout(settleMilliseconds);
  // A watch that failed while everything started is whole again within a minute.
  let doctor = await runCommand(project, 'doctor');
  while (doctor.lines.some((line) => line.includes('its watchers reconnect')) && !signal.aborted)
    doctor = await runCommand(project, 'doctor');
  const status = await runCommand(project, 'status');
  const table = status.lines.filter((line) => / lamp +\d|CONTROLLER/.test(line));
  const problems = status.lines.filter((line) => /^local: /.test(line));
  const findings = doctor.lines.filter((line, index) => {
    const about = line.startsWith('         →') ? (doctor.lines[index - 1] ?? '') : line;
    return /^(warning|wrong) /.test(about);
  });
  return {
    [`outrigger status (exit status ${status.status})`]: [...table, ...problems],
    [`outrigger doctor (exit status ${doctor.status})`]: findings,
  };
}

/** The kinds that kubectl knows from a run before do not count. */
const noCache = ['--cache-dir', '.kubectl-cache'];

async function withoutCrd(project: Project, dev: RunningDev): Promise<Section> {
  const mark = dev.mark();
  await kubectl(project, 'delete', 'crd', 'lamps.shop.example.com');
  await succeed(project, 'reconcile', 'lamp:default/north');
  const printed = await dev.until(lastRun('north'), mark);
  await untilDeadLetter(project, 'north');
  const north = {
    apiVersion: 'shop.example.com/v1',
    kind: 'Lamp',
    metadata: { name: 'north' },
    spec: { does: 'work' },
  };
  await writeFile(path.join(project.folder, 'north.yaml'), JSON.stringify(north));
  return {
    title: 'The CRD is missing',
    means: 'Apply the generated CRDs (`dist/kubernetes`). The local system does so at its start.',
    shows: {
      terminal: reportOf(printed, 'north'),
      ...(await commandsShow(project)),
      'kubectl get lamps': await kubectl(project, ...noCache, 'get', 'lamps'),
      'kubectl apply -f north.yaml': await kubectl(project, ...noCache, 'apply', '-f', 'north.yaml'),
    },
  };
}

async function withoutPermission(project: Project): Promise<readonly Section[]> {
  const server = await startApiServer();
  const proxy = await startRefusingProxy(server.url);
  try {
    const dev = startDev(project, ...options, '--kubeconfig', await kubeconfig(project, proxy.url));
    try {
      await dev.until(/everything runs/);
      return [
        {
          title: 'A permission is missing',
          means:
            'The roles of the functions are generated from `owns` and `reads`. Apply them in that cluster, and bind them to the identity of the functions.',
          shows: await failAnObject(project, dev, proxy.url, 'work'),
        },
      ];
    } finally {
      await dev.stop();
    }
  } finally {
    proxy.close();
    await server.close();
  }
}

async function withoutKind(project: Project): Promise<readonly Section[]> {
  await ownUnservedKind(project);
  const dev = startDev(project, ...options);
  try {
    const printed = await dev.until(/everything runs/);
    const server = await serverOf(project);
    const shows = await failAnObject(project, dev, server, 'need a kind');
    const atStart = printed.filter((line) => /watch failed, retrying.*certificates/.test(line)).slice(0, 1);
    return [
      {
        title: 'A kind is not served',
        means: 'Install the CRD of that kind. It is named at the start, and the reconciles that need it are retried.',
        shows: { ...shows, terminal: [...atStart, ...(shows.terminal ?? [])] },
      },
    ];
  } finally {
    await dev.stop();
  }
}

const state = z.looseObject({ apiServer: z.string() });

async function serverOf(project: Project): Promise<string> {
  return state.parse(JSON.parse(await readFile(path.join(project.folder, '.outrigger/state.json'), 'utf8'))).apiServer;
}

async function kubeconfig({ folder }: Project, server: string): Promise<string> {
  const file = path.join(folder, 'cluster.json');
  const text = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'shop',
    users: [{ name: 'shop', user: {} }],
    contexts: [{ name: 'shop', context: { cluster: 'shop', user: 'shop' } }],
    clusters: [{ name: 'shop', cluster: { server } }],
  };
  await writeFile(file, JSON.stringify(text));
  return file;
}

async function create(server: string, url: string, object: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${server}${url}`, { method: 'POST', headers, body: JSON.stringify(object) });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
}

/** Runs kubectl as the page says to. Its ages are replaced. */
async function kubectl({ folder, kubectl: program }: Project, ...argv: readonly string[]): Promise<readonly string[]> {
  const env = { ...environment(), KUBECONFIG: path.join(folder, '.outrigger/kubeconfig') };
  const { lines } = await runProgram(program, argv, { cwd: folder, env });
  return lines.map((line) => line.replace(/(\s)\d+[smh](?:\d+s)?$/, '$112s'));
}

/** Replaces what differs between two runs. */
function steady(line: string, { folder }: Project): string {
  return line
    .replaceAll(folder, '/srv/shop')
    .replace(/^\d\d:\d\d:\d\d {2}/, '')
    .replace(/^ {10}(?=\S)/, '  ')
    .replaceAll(/127\.0\.0\.1:(?!9797)\d+/g, '127.0.0.1:PORT')
    .replaceAll(/(--api-port|process|pid) \d+/g, '$1 N')
    .replaceAll(/(since|next in|ran on for) \d+ s/g, '$1 2 s')
    .replaceAll(/retryInSeconds=[\d.]+/g, 'retryInSeconds=1')
    .trimEnd();
}

const introduction = `# Troubleshooting

What each program shows for a trouble, from runs of outrigger dev with one controller, \`lamp\`, and two attempts of a
reconcile. \`node tools/troubleshooting/page.ts\` makes this page, and a test makes it again. \`npx outrigger explain KEY\`
has the state of one object, \`npx outrigger history KEY\` its last reconciles. Each alarm has a page in
[alarms.md](alarms.md), and [by symptom](by-symptom.md) starts from what you see.
`;

function pageOf(sections: readonly Section[], project: Project): string {
  const anchor = (title: string) =>
    title
      .toLowerCase()
      .replaceAll(/[^a-z ]/g, '')
      .replaceAll(' ', '-');
  const ready = ({ 'kubectl get lamps': lines = [] }: Section['shows']) => {
    const [, state = '', reason = ''] = /^\S+ +(True|False|Unknown) +(\w+)/m.exec(lines.join('\n')) ?? [];
    return state === '' ? '-' : `\`${state}\` \`${reason}\``;
  };
  const rows = sections.map(
    ({ title, means, shows }) => `| [${title}](#${anchor(title)}) | ${ready(shows)} | ${means} |`,
  );
  const texts = sections.map(({ title, shows }) => {
    const blocks = Object.entries(shows).map(([program, lines]) => {
      const text = lines.map((line) => steady(line, project)).join('\n');
      const label = program === 'terminal' ? 'outrigger dev prints' : program;
      return `${label}:\n\n\`\`\`text\n${text}\n\`\`\`\n`;
    });
    return `## ${title}\n\n${blocks.join('\n')}`;
  });
  const head = ['| trouble | `READY` and `REASON` | it means |', '| --- | --- | --- |'];
  return `${introduction}\n${[...head, ...rows].join('\n')}\n\n${texts.join('\n')}`;
}

if (import.meta.main) await writeFile('docs/troubleshooting.md', await troubleshootingPage('kubectl'));

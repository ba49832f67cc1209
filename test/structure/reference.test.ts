// Only that the reference pages agree with the source: log lines and metrics, names and conditions, generated files. That
// the commands and the settings do is tested in cli-page.test.ts and settings-page.test.ts.
import { globSync, readFileSync } from 'node:fs';
import { manifestFiles } from '@outrigger/cli/project/manifests';
import { describe, expect, it } from 'vitest';
import { reasons, runtimeConditions } from '../../src/api/conditions.ts';
import { registry } from '../../src/controllers/registry.ts';
import { metricNames } from '../../src/core/metrics.ts';
import {
  controllerLabel,
  fieldManagerOf,
  finalizerOf,
  heldLabelOf,
  observedAnnotationPrefix,
  ownerAnnotation,
  ownerUidLabel,
  pausedAnnotation,
  reconcileRequestedAnnotation,
} from '../../src/core/names.ts';
import type { CauseType } from '../../src/sqs/message.ts';
import { createMetrics } from '../../src/watcher/metrics.ts';

const causes: ReadonlySet<string | undefined> = new Set<CauseType>([
  ...(['change', 'requeue', 'retry', 'resync', 'wake', 'command'] as const),
]);

const page = (name: string): string => readFileSync(`docs/${name}.md`, 'utf8');

/** The text of a section, without those below it. */
function section(text: string, title: string): string {
  const [, after = ''] = text.split(new RegExp(`^#+ ${title}\n`, 'm'));
  const [own = ''] = after.split(/^#+ /m);
  return own;
}

/** The names in backquotes of the first cells of the tables of a text. */
function namesIn(text: string): readonly string[] {
  const cells = [...text.matchAll(/^\| (.*?) \|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
}

const deployed = 'checkpoint,clusters,forwarding,kube,lambda,reconciling,resync,sqs,timers,tracing,waking,watcher';
const watcherFolders = /^src\/(?:checkpoint\/(?!watcher-status)|forwarding|watcher)/;

/** The calls that write a log line: the text of their arguments, and whether the watcher makes them. */
const calls = globSync(`src/{${deployed}}/**/*.ts`).flatMap((file) => {
  const source = readFileSync(file, 'utf8');
  const starts = [
    ...source.matchAll(
      /(?:\b(?:log|logger)(?:\([^()]*\))?|\blog\(\{.*?\}\))\.(?:debug|info|warn|error)\(|\bwrite\((?=')/g,
    ),
  ];
  return starts.map((start) => ({
    file,
    text: argumentsAt(source, start.index + start[0].length),
    isWatcher: watcherFolders.test(file),
  }));
});

/** The text up to the parenthesis that closes the call. */
function argumentsAt(source: string, from: number): string {
  let depth = 1;
  let end = from;
  while (depth > 0 && end < source.length) {
    if ('([{'.includes(source[end] ?? '')) depth += 1;
    else if (')]}'.includes(source[end] ?? '')) depth -= 1;
    end += 1;
  }
  return source.slice(from, end - 1);
}

const messagesOf = (all: typeof calls) =>
  new Set(
    all.flatMap(({ text }) =>
      [...text.replace(/\{.*/s, '').matchAll(/'([a-zA-Z][^']+ [^']*|[a-z]{6,})'/g)].map(([, one]) => one),
    ),
  );

describe('docs/logs.md', () => {
  const logs = page('logs');

  it('docs/logs.md has every message of the functions and of the watcher, and no other', () => {
    expect(calls.length).toBeGreaterThan(50);
    // Both write it.
    const both = ['spans dropped'];
    const ours = (isWatcher: boolean) => messagesOf(calls.filter((call) => call.isWatcher === isWatcher));
    expect(new Set(namesIn(section(logs, 'Messages of the functions')))).toEqual(ours(false));
    const inWatcher = new Set([...namesIn(section(logs, 'Messages of the watcher')), ...both]);
    expect(inWatcher).toEqual(new Set([...ours(true)].filter((one) => one !== 'restored')));
  });

  it('docs/logs.md has every field that a log line is given by name, and none that the source does not have', () => {
    const fields = new Set(namesIn(section(logs, 'Fields')));
    const given = calls.flatMap(({ text }) => {
      const [, literal = ''] = /\{(.*)\}/s.exec(text) ?? [];
      const flat = literal.replaceAll(/\((?:[^()]|\([^()]*\))*\)/g, '').replaceAll(/\.\.\.[^,]*/g, '');
      return [...flat.matchAll(/(?:^|,)\s*(\w+)(?=\s*(?::|,|$))/g)].map(([, name = '']) => name);
    });
    expect(given.length).toBeGreaterThan(40);
    expect(new Set(given.filter((name) => !fields.has(name)))).toEqual(new Set());
    const sources = globSync(`src/{${deployed}}/**/*.ts`).map((file) => readFileSync(file, 'utf8'));
    const used = (name: string) => sources.some((text) => new RegExp(`\\b${name}\\b`).test(text));
    expect([...fields].filter((name) => !used(name))).toEqual([]);
  });

  it('docs/logs.md has every metric of the watcher', async () => {
    const served = (await createMetrics().page()).matchAll(/^# HELP (outrigger_\w+) (.*)$/gm);
    const texts = new Map([...served].map(([, name = '', help = '']) => [name, help]));
    const rows = section(logs, 'Metrics of the watcher').matchAll(/^\| `(\w+)` \| .*? \| (.*) \|$/gm);
    expect(new Map([...rows].map(([, name = '', text = '']) => [name, text]))).toEqual(texts);
    expect(texts.size).toBeGreaterThan(10);
  });
});

it('docs/metrics.md has every metric of the functions, and no other', () => {
  const names = namesIn(section(page('metrics'), 'Metrics')).map((name) => name.replace('…', 'Reconciles'));
  expect(new Set(names)).toEqual(new Set(Object.values(metricNames)));
});

it('docs/messages.md describes each cause of a message, with an example', () => {
  const text = page('messages');
  const types = new Set(namesIn(section(text, 'Causes')).filter((name) => causes.has(name)));
  const examples = section(text, 'Causes').matchAll(/^\{ "type": "(\w+)"/gm);
  expect(types).toEqual(causes);
  expect(new Set([...examples].map(([, type]) => type))).toEqual(causes);
});

describe('docs/names.md', () => {
  const names = page('names');

  it('docs/names.md has the annotations, labels, finalizers and field managers', () => {
    const asked = namesIn(section(names, 'Annotations that you set')).map((name) => name.replace(/:.*/, ''));
    expect(new Set(asked)).toEqual(new Set([pausedAnnotation, reconcileRequestedAnnotation]));
    const set = [controllerLabel, ownerUidLabel, ownerAnnotation, heldLabelOf('CONTROLLER')];
    const own = [finalizerOf('CONTROLLER'), fieldManagerOf('CONTROLLER'), `${observedAnnotationPrefix}CONTROLLER`];
    expect(new Set(namesIn(section(names, 'What Outrigger sets')))).toEqual(new Set([...set, ...own]));
  });

  it('docs/names.md has the conditions and the reasons of the runtime', () => {
    const found = new Set(namesIn(section(names, 'Conditions')));
    expect(found).toEqual(new Set([...runtimeConditions, ...Object.values(reasons)]));
  });
});

it('docs/generated-files.md has every manifest that a build writes', async () => {
  const text = page('generated-files');
  const patterns = namesIn(section(text, 'Manifests of a cluster')).map((name) => {
    const pattern = name.replaceAll('.', '\\.').replace('PLURAL', '[a-z]+').replace('GROUP', '[a-z.]+');
    return new RegExp(`^${pattern}$`);
  });
  const input = { registry, crdsOnly: [], project: 'outrigger', namespaces: undefined };
  const written = [...(await manifestFiles(input)).keys()];
  expect(written.length).toBeGreaterThan(10);
  expect(written.filter((file) => !patterns.some((pattern) => pattern.test(file)))).toEqual([]);
});

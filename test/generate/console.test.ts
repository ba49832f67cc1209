// Only that the console speaks of what is there: every metric of the dashboard and of the alarms is one that the functions write or
// that AWS keeps, every field of a saved question is one that they log, and every alarm says what to do and where the rest is.
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { registry } from '../../src/controllers/registry.ts';
import { resyncQueue, timersQueue } from '../../src/core/names.ts';
import { createResolve, parseTemplate } from '../../src/dev/lambda/template.ts';
import { collectEmissions, type Emissions } from '../lambda/emissions.ts';
import { headingsOf, sectionsUnder } from '../support/markdown-headings.ts';
import { type Alarm, alarmShape, looksOf, problem } from './console-metrics.ts';
import { dashboardBody, type Widget } from './dashboard-body.ts';
import { packageTemplate } from './package-template.ts';

let alarms: readonly Alarm[];
let widgets: readonly Widget[];
let questions: readonly { readonly name: string; readonly query: string; readonly groups: readonly string[] }[];
let names: { readonly queues: readonly string[]; readonly functions: readonly string[] };
let logGroups: readonly string[];
let emissions: Emissions;

beforeAll(async () => {
  const template = parseTemplate(await packageTemplate('test'));
  const parameters = { PlantUrl: 'http://plant', PantryUrl: 'http://pantry' };
  const resolve = createResolve(template, { parameters });
  const each = <S extends z.ZodType>(type: string, shape: S): z.output<S>[] =>
    Object.entries(template.Resources)
      .filter(([, resource]) => resource.Type === type)
      .map(([id, { Properties }]) => shape.parse(resolve(Properties, id)));
  alarms = each('AWS::CloudWatch::Alarm', alarmShape);
  const [dashboard] = each('AWS::CloudWatch::Dashboard', z.object({ DashboardBody: z.string() }));
  widgets = dashboardBody.parse(JSON.parse(dashboard?.DashboardBody ?? '')).widgets;
  questions = each(
    'AWS::Logs::QueryDefinition',
    z.object({ Name: z.string().max(255), QueryString: z.string().max(10_000), LogGroupNames: z.array(z.string()) }),
  ).map(({ Name, QueryString, LogGroupNames }) => ({ name: Name, query: QueryString, groups: LogGroupNames }));
  names = {
    queues: each('AWS::SQS::Queue', z.object({ QueueName: z.string() })).map(({ QueueName }) => QueueName),
    functions: each('AWS::Lambda::Function', z.object({ FunctionName: z.string() })).map((one) => one.FunctionName),
  };
  logGroups = each('AWS::Logs::LogGroup', z.object({ LogGroupName: z.string() })).map((one) => one.LogGroupName);
  emissions = await collectEmissions({ perCluster: false });
}, 120_000);

describe('the dashboard', () => {
  const looks = () =>
    widgets.flatMap((widget) =>
      widget.type === 'metric'
        ? widget.properties.metrics.map(([namespace, name, by, of, { stat }]) => ({
            where: widget.properties.title,
            metric: [namespace, name, by, of],
            stat,
          }))
        : [],
    );

  it('shows nothing but metrics that somebody writes, with a statistic that means something', () => {
    expect(looks().length).toBeGreaterThan(20 * registry.length);
    expect(looks().flatMap((look) => problem(look, { ...names, emissions })?.concat(` (${look.where})`) ?? [])).toEqual(
      [],
    );
  });

  it('shows lag, outcomes, what was missed and mended, queues, dead letters and throttles of each controller', () => {
    const shown = looks().map(({ metric: [, name, , of], stat }) => `${name} ${stat} ${of}`);
    for (const { name } of registry) {
      for (const metric of ['LagMilliseconds p50', 'LagMilliseconds p99', 'Unobserved Sum', 'Repaired Sum'])
        expect(shown).toContain(`${metric} ${name}`);
      for (const outcome of ['Done', 'Nothing', 'Failed', 'Terminal', 'Refused', 'Deferred', 'BrokenOff'])
        expect(shown).toContain(`Reconciles${outcome} Sum ${name}`);
      expect(shown).toContain(`Throttles Sum outrigger-test-${name}`);
      for (const metric of ['ApproximateAgeOfOldestMessage', 'ApproximateNumberOfMessagesVisible'])
        expect(shown).toContain(`${metric} Maximum outrigger-test-${name}.fifo`);
      expect(shown).toContain(`ApproximateNumberOfMessagesVisible Maximum outrigger-test-${name}-dlq.fifo`);
    }
    expect(shown).toContain('WatchersSilent Maximum resync');
  });

  it('shows every outcome that a reconcile can have', () => {
    const written = new Set(emissions.metrics.map(({ name }) => name).filter((name) => name.startsWith('Reconciles')));
    const shown = new Set(looks().map(({ metric: [, name] }) => name));
    for (const name of written) expect(shown).toContain(name);
  });

  it('shows every alarm, and no two things at one place', () => {
    const shown = widgets.flatMap((widget) => (widget.type === 'alarm' ? widget.properties.alarms : []));
    const own = 'arn:aws:cloudwatch:us-east-1:000000000000:alarm:';
    expect(shown.toSorted()).toEqual(alarms.map(({ AlarmName }) => own + AlarmName).toSorted());
    const taken = new Set<string>();
    for (const { x, y, width, height } of widgets) {
      for (let column = x; column < x + width; column += 1) {
        for (let line = y; line < y + height; line += 1) {
          expect(taken).not.toContain(`${column}/${line}`);
          taken.add(`${column}/${line}`);
        }
      }
    }
  });

  it('asks the logs of every function, which are there', () => {
    for (const widget of widgets) {
      if (widget.type !== 'log') continue;
      const asked = [...widget.properties.query.matchAll(/SOURCE '([^']+)'/g)].map(([, group]) => group);
      expect(asked.toSorted()).toEqual(logGroups.toSorted());
    }
  });
});

describe('the alarms', () => {
  it('look at nothing but metrics that somebody writes, with a statistic that means something', () => {
    const looks = alarms.flatMap(looksOf);
    expect(looks.length).toBeGreaterThan(alarms.length);
    expect(looks.flatMap((look) => problem(look, { ...names, emissions })?.concat(` (${look.where})`) ?? [])).toEqual(
      [],
    );
  });

  it('are a set for each controller, and one for what all share', () => {
    const set = (name: string, ...whats: readonly string[]) => whats.map((what) => `outrigger-test-${name}-${what}`);
    expect(alarms.map(({ AlarmName }) => AlarmName).toSorted()).toEqual(
      [
        ...registry.flatMap(({ name }) => set(name, 'late', 'dead-letters', 'errors', 'throttles', 'unobserved')),
        ...set(timersQueue, 'late', 'dead-letters', 'errors', 'throttles'),
        ...set(resyncQueue, 'dead-letters', 'errors', 'throttles', 'not-run'),
        ...set('watchers', 'silent'),
        ...set('polls', 'fail'),
      ].toSorted(),
    );
  });

  it('count silence as a breach where silence is the danger: of the watchers and of the resync', () => {
    const breaching = alarms.filter(({ TreatMissingData }) => TreatMissingData === 'breaching');
    expect(breaching.map(({ AlarmName }) => AlarmName).toSorted()).toEqual([
      'outrigger-test-resync-not-run',
      'outrigger-test-watchers-silent',
    ]);
  });

  it('say what to do first, and where the rest is written', () => {
    const runbooks = headingsOf(readFileSync('docs/operating.md', 'utf8'));
    const named = alarms.map(({ AlarmName, AlarmDescription }) => {
      const parsed = /^.+[.] First: (npx outrigger .+)[.] Runbook: docs\/operating[.]md#([a-z-]+)$/.exec(
        AlarmDescription,
      );
      const [, first = '', anchor = ''] = parsed ?? [];
      expect(first, AlarmName).toContain('--stage test');
      expect(runbooks, AlarmName).toContain(anchor);
      return anchor;
    });
    // Under the heading "Alarms" there is nothing else.
    expect(new Set(named)).toEqual(new Set(sectionsUnder(readFileSync('docs/operating.md', 'utf8'), 'Alarms')));
  });
});

describe('the saved questions', () => {
  /** Of Logs Insights' own: "CloudWatch Logs Insights language query syntax", and what it makes of Lambda's reports. */
  const words = new Set(
    'fields filter stats sort limit by as and or not in like desc asc count sum max min avg pct ispresent latest'.split(
      ' ',
    ),
  );
  const discovered = ['@timestamp', '@log', '@type', '@billedDuration', '@duration', '@maxMemoryUsed'];

  it('speak of nothing but fields that are logged, and look for nothing but what they hold', () => {
    const fields = new Set([...discovered, ...emissions.entries.flatMap((entry) => Object.keys(entry))]);
    const values = new Set(emissions.entries.flatMap((entry) => Object.values(entry).map(String)));
    const asked = widgets.flatMap((widget) => (widget.type === 'log' ? [widget.properties.query] : []));
    for (const query of [...questions.map((one) => one.query), ...asked]) {
      const bare = query.replaceAll(/^#.*$/gm, '').replaceAll(/SOURCE '[^']*' \|/g, '');
      const aliases = new Set([...bare.matchAll(/\bas (\w+)/g)].map(([, alias = '']) => alias));
      const spoken = [...bare.replaceAll(/"[^"]*"/g, '').matchAll(/@?[A-Za-z_]\w*/g)].map(([word]) => word);
      expect(spoken.filter((word) => !words.has(word) && !aliases.has(word) && !fields.has(word))).toEqual([]);
      const sought = [...bare.matchAll(/"([^"]*)"/g)].map(([, value = '']) => value);
      const elsewhere = new Set(['retry', 'REPORT', 'CLUSTER', 'NAMESPACE', 'NAME']);
      expect(sought.filter((value) => !elsewhere.has(value) && !values.has(value))).toEqual([]);
    }
  });

  it('ask the logs of every function, under names of their own', () => {
    for (const { groups } of questions) expect(groups.toSorted()).toEqual(logGroups.toSorted());
    expect(new Set(questions.map(({ name }) => name)).size).toBe(questions.length);
    expect(questions.map(({ name }) => name)).toContain('outrigger-test/the life of one key');
  });
});

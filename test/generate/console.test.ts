// Only that the dashboard, alarms and saved queries refer to existing things: every metric is written by the functions
// or by AWS, every field of a query is logged, and every alarm names its first step and its runbook.
import { readdirSync, readFileSync } from 'node:fs';
import { documentation } from '@outrigger/cli/aws/alarms';
import { createResolve, parseTemplate } from '@outrigger/cli/dev/lambda/template';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { registry } from '../../src/controllers/registry.ts';
import { metricNames } from '../../src/core/metrics.ts';
import { resyncQueue, timersQueue } from '../../src/core/names.ts';
import { collectEmissions, type Emissions } from '../lambda/emissions.ts';
import { type Alarm, alarmMetrics, alarmShape, type MetricUse, metricProblem } from './console-metrics.ts';
import { dashboardBody, type Widget } from './dashboard-body.ts';
import { packageTemplate } from './package-template.ts';

let alarms: readonly Alarm[];
let widgets: readonly Widget[];
let savedQueries: readonly { readonly name: string; readonly query: string; readonly groups: readonly string[] }[];
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
  savedQueries = each(
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

const problemsOf = (uses: readonly MetricUse[]) =>
  uses.flatMap((use) => metricProblem(use, { ...names, emissions })?.concat(` (${use.where})`) ?? []);

describe('the dashboard', () => {
  const usedMetrics = () =>
    widgets.flatMap((widget) =>
      widget.type === 'metric'
        ? widget.properties.metrics.map(([namespace, name, by, of, { stat }]) => ({
            where: widget.properties.title,
            metric: [namespace, name, by, of],
            stat,
          }))
        : [],
    );

  it('the dashboard only shows metrics that are written, with a useful statistic', () => {
    expect(usedMetrics().length).toBeGreaterThan(20 * registry.length);
    expect(problemsOf(usedMetrics())).toEqual([]);
  });

  it('the dashboard shows every outcome, latency, missed changes, drift, queues, dead letters and throttles of each controller', () => {
    const shown = new Set(usedMetrics().map(({ metric: [, name, , of], stat }) => `${name} ${stat} ${of}`));
    const outcomes = emissions.metrics.map(({ name }) => name).filter((name) => /^Reconciles./.test(name));
    expect(new Set(outcomes).size).toBeGreaterThanOrEqual(6);
    const counts = [...new Set(outcomes), 'ReconcileTimeouts', 'MissedChanges', 'DriftCorrected', 'ApplyNoops'];
    for (const { name } of registry) {
      const own = [...counts.map((metric) => `${metric} Sum`), 'ReconcileLatency p50', 'ReconcileLatency p99'];
      const expected = [
        ...own.map((metric) => `${metric} ${name}`),
        `Throttles Sum outrigger-test-${name}`,
        `ApproximateAgeOfOldestMessage Maximum outrigger-test-${name}.fifo`,
        ...['', '-dlq'].map((end) => `ApproximateNumberOfMessagesVisible Maximum outrigger-test-${name}${end}.fifo`),
      ];
      expect(expected.filter((one) => !shown.has(one))).toEqual([]);
    }
    expect(shown).toContain('WatcherDown Maximum resync');
  });

  it('the dashboard shows every alarm, and its widgets do not overlap', () => {
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

  it('the dashboard queries the log group of every function', () => {
    for (const widget of widgets) {
      if (widget.type !== 'log') continue;
      const sources = [...widget.properties.query.matchAll(/SOURCE '([^']+)'/g)].map(([, group]) => group);
      expect(sources.toSorted()).toEqual(logGroups.toSorted());
    }
  });
});

describe('the alarms', () => {
  it('alarms only use metrics that are written, with a useful statistic', () => {
    const used = alarms.flatMap(alarmMetrics);
    expect(used.length).toBeGreaterThan(alarms.length);
    expect(problemsOf(used)).toEqual([]);
  });

  it('a query of an alarm has the namespace, a metric of Outrigger, and exactly the dimensions with which it is written', () => {
    const queries = alarms.flatMap(({ Metrics = [] }) =>
      Metrics.flatMap(({ Expression = '' }) => (Expression.startsWith('SELECT ') ? [Expression] : [])),
    );
    expect(queries).toHaveLength(4);
    for (const query of queries) {
      const parsed = /^SELECT (?:MAX|SUM)\((\w+)\) FROM (?:SCHEMA\()?"outrigger\/test"(?:, ([\w, ]+)\))?/.exec(query);
      const [, metric = '', dimensions] = parsed ?? [];
      expect(Object.values(metricNames), query).toContain(metric);
      const written = emissions.metrics.filter(({ name }) => name === metric);
      for (const one of dimensions === undefined ? [] : written)
        expect(Object.keys(one.dimensions).toSorted(), query).toEqual(dimensions?.split(', ').toSorted());
    }
    expect(queries.join()).toContain('MAX(ClusterTrouble)');
    expect(emissions.metrics.some(({ name }) => name === 'ClusterTrouble')).toBe(true);
  });

  it('lean monitoring has six alarms, one of all dead letters, whose queues the resync may read, and no dashboard, and off has none of it', async () => {
    const resourcesOf = async (monitoring: string) => {
      const template = parseTemplate(await packageTemplate('test', [`MONITORING=${monitoring}`]));
      const resources = Object.entries(template.Resources).filter(([, { Type }]) => /CloudWatch|SNS/.test(Type));
      const readsDepths = JSON.stringify(template.Resources.ResyncRole).includes('-dlq*');
      const ids = resources.map(([id]) => id).toSorted();
      return { ids, readsDepths, resolve: createResolve(template), of: template.Resources };
    };
    const { ids, readsDepths, resolve, of } = await resourcesOf('lean');
    expect(readsDepths).toBe(true);
    const own = [
      'ClusterTroubleAlarm',
      'DeadLettersAlarm',
      'ResyncErrorsAlarm',
      'ResyncNotRunAlarm',
      'SelfTriggeredAlarm',
    ];
    expect(ids).toEqual(['AlarmTopic', ...own, 'TimersErrorsAlarm']);
    const id = 'DeadLettersAlarm';
    const deadLetters = alarmShape.parse(resolve(of[id]?.Properties, id));
    expect(problemsOf(alarmMetrics(deadLetters))).toEqual([]);
    expect(await resourcesOf('off')).toMatchObject({ ids: [], readsDepths: false });
  }, 120_000);

  it('there is a set of alarms for each controller, and one for the shared resources', () => {
    const set = (name: string, ...whats: readonly string[]) => whats.map((what) => `outrigger-test-${name}-${what}`);
    expect(alarms.map(({ AlarmName }) => AlarmName).toSorted()).toEqual(
      [
        ...registry.flatMap(({ name }) => set(name, 'late', 'dead-letters', 'errors', 'throttles', 'missed-changes')),
        ...set(timersQueue, 'late', 'dead-letters', 'errors', 'throttles'),
        ...set(resyncQueue, 'dead-letters', 'errors', 'throttles', 'not-run', 'late', 'abandoned'),
        ...set('wake', 'errors', 'throttles'),
        ...set('watcher', 'down'),
        ...set('resync', 'failing'),
        ...set('senders', 'refused'),
        ...set('reconciles', 'itself'),
        ...set('cluster', 'trouble'),
        ...set('clusters-table', 'stale'),
      ].toSorted(),
    );
  });

  it('missing data breaches only the alarms watcher-down and resync-not-run', () => {
    const breaching = alarms.filter(({ TreatMissingData }) => TreatMissingData === 'breaching');
    expect(breaching.map(({ AlarmName }) => AlarmName).toSorted()).toEqual([
      'outrigger-test-resync-not-run',
      'outrigger-test-watcher-down',
    ]);
  });

  // Control T57.
  it('every alarm names its first step and its page, every page has an alarm, and the list of alarms has each page', () => {
    const named = alarms.map(({ AlarmName, AlarmDescription }) => {
      const parsed = /^.+[.] First: (npx outrigger .+)[.] Runbook: (https:.+)\/alarms\/([a-z-]+)$/.exec(
        AlarmDescription,
      );
      const [, first = '', address, page = ''] = parsed ?? [];
      expect(first, AlarmName).toContain('--stage test');
      expect(address, AlarmName).toBe(documentation);
      return page;
    });
    const pages = readdirSync('docs/alarms').map((file) => file.replace('.md', ''));
    expect(new Set(named)).toEqual(new Set(pages));
    const list = readFileSync('docs/alarms.md', 'utf8');
    for (const page of pages) {
      expect(list).toContain(`](alarms/${page}.md)`);
      expect(readFileSync(`docs/alarms/${page}.md`, 'utf8').split(/\s+/).length, page).toBeLessThan(230);
    }
  });
});

describe('the saved queries', () => {
  /**
   * The keywords of "CloudWatch Logs Insights language query syntax". Below: the fields that it discovers in Lambda's
   * reports.
   */
  const words = new Set(
    'fields filter stats sort limit by as and or not in like desc asc count sum max min avg pct ispresent latest'.split(
      ' ',
    ),
  );
  const discovered = ['@timestamp', '@log', '@type', '@billedDuration', '@duration', '@maxMemoryUsed'];

  it('saved queries only use logged fields, and filter by logged values', () => {
    const fields = new Set([...discovered, ...emissions.entries.flatMap((entry) => Object.keys(entry))]);
    const values = new Set(emissions.entries.flatMap((entry) => Object.values(entry).map(String)));
    const dashboardQueries = widgets.flatMap((widget) => (widget.type === 'log' ? [widget.properties.query] : []));
    for (const query of [...savedQueries.map((one) => one.query), ...dashboardQueries]) {
      const bare = query.replaceAll(/^#.*$/gm, '').replaceAll(/SOURCE '[^']*' \|/g, '');
      const aliases = new Set([...bare.matchAll(/\bas (\w+)/g)].map(([, alias = '']) => alias));
      const used = [...bare.replaceAll(/"[^"]*"/g, '').matchAll(/@?[A-Za-z_]\w*/g)].map(([word]) => word);
      expect(used.filter((word) => !words.has(word) && !aliases.has(word) && !fields.has(word))).toEqual([]);
      const searched = [...bare.matchAll(/"([^"]*)"/g)].map(([, value = '']) => value);
      const elsewhere = new Set(['retry', 'REPORT', 'CLUSTER', 'NAMESPACE', 'NAME']);
      expect(searched.filter((value) => !elsewhere.has(value) && !values.has(value))).toEqual([]);
    }
  });

  it('saved queries cover the log group of every function, and have unique names', () => {
    for (const { groups } of savedQueries) expect(groups.toSorted()).toEqual(logGroups.toSorted());
    expect(new Set(savedQueries.map(({ name }) => name)).size).toBe(savedQueries.length);
    expect(savedQueries.map(({ name }) => name)).toContain('outrigger-test/history of one key');
  });
});

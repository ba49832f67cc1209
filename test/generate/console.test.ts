// Only that the console speaks of what is there: every metric of the dashboard and of the alarms is one that the functions write or
// that AWS keeps, every field of a saved question is one that they log, and every alarm says what to do and where the rest is.
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { registry } from '../../src/controllers/registry.ts';
import { resyncQueue, timersQueue } from '../../src/core/words.ts';
import { createResolve, parseTemplate } from '../../src/local/lambda/template.ts';
import { collectEmissions, type Emissions, emitting } from '../lambda/emissions.ts';
import { dashboardBody, statistic, type Widget } from './dashboard-body.ts';
import { packageTemplate } from './package-template.ts';

/** What AWS keeps for queues and functions, and which statistics mean something. From "Available CloudWatch metrics for Amazon SQS". */
const queueMetrics: Readonly<Record<string, readonly string[]>> = {
  ApproximateAgeOfOldestMessage: ['Maximum', 'Average'],
  ApproximateNumberOfMessagesVisible: ['Maximum', 'Average'],
  ApproximateNumberOfMessagesDelayed: ['Maximum', 'Average'],
  NumberOfMessagesDeleted: ['Sum'],
};
/** From "Types of metrics for Lambda functions". */
const functionMetrics: Readonly<Record<string, readonly string[]>> = {
  Invocations: ['Sum'],
  Errors: ['Sum'],
  Throttles: ['Sum'],
  Duration: ['p50', 'p99', 'Maximum', 'Average'],
};
/** By the unit in which a metric of ours is written. */
const ownStatistics: Readonly<Record<string, readonly string[]>> = {
  Count: ['Sum', 'Maximum'],
  Milliseconds: ['p50', 'p99', 'Maximum'],
};

const dimension = z.object({ Name: z.string(), Value: z.string() });
const looked = { Namespace: z.string(), MetricName: z.string(), Dimensions: z.array(dimension).length(1) };
const alarmShape = z.object({
  AlarmName: z.string(),
  AlarmDescription: z.string().max(1_024),
  Threshold: z.number(),
  EvaluationPeriods: z.int().min(1),
  TreatMissingData: z.enum(['breaching', 'notBreaching']),
  AlarmActions: z.array(z.string()).min(1),
  OKActions: z.array(z.string()).min(1),
  ...z.object({ ...looked, Statistic: statistic, Period: z.int().multipleOf(60) }).partial().shape,
  Metrics: z
    .array(
      z.object({
        Id: z.string(),
        Expression: z.string().optional(),
        MetricStat: z.object({ Metric: z.object(looked), Stat: statistic, Period: z.int().multipleOf(60) }).optional(),
      }),
    )
    .optional(),
});
type Alarm = z.infer<typeof alarmShape>;

/** One metric that somebody looks at. */
type Look = { readonly where: string; readonly metric: readonly string[]; readonly stat: string };

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

/** What is wrong with a look at a metric; undefined when it is written so. */
function problem({ metric: [namespace = '', name = '', by = '', of = ''], stat }: Look): string | undefined {
  if (namespace === 'AWS/SQS') {
    if (by !== 'QueueName' || !names.queues.includes(of)) return `no queue ${of}`;
    return queueMetrics[name]?.includes(stat) ? undefined : `${stat} of ${name}`;
  }
  if (namespace === 'AWS/Lambda') {
    if (by !== 'FunctionName' || !names.functions.includes(of)) return `no function ${of}`;
    return functionMetrics[name]?.includes(stat) ? undefined : `${stat} of ${name}`;
  }
  // One controller has spoken for all.
  const service = registry.some((one) => one.name === of) ? emitting : of;
  const written = emissions.metrics.find(
    (one) => one.namespace === namespace && one.name === name && by === 'service' && one.dimensions.service === service,
  );
  if (written === undefined) return `nobody writes ${name} of ${of}`;
  return ownStatistics[written.unit]?.includes(stat) ? undefined : `${stat} of ${name}`;
}

function looksOf({ AlarmName: where, Namespace, MetricName, Dimensions, Statistic, Metrics = [] }: Alarm): Look[] {
  const metricOf = (one: { Namespace: string; MetricName: string; Dimensions: { Name: string; Value: string }[] }) => [
    one.Namespace,
    one.MetricName,
    ...one.Dimensions.flatMap(({ Name, Value }) => [Name, Value]),
  ];
  const inside = Metrics.flatMap(({ MetricStat }) =>
    MetricStat === undefined ? [] : [{ where, metric: metricOf(MetricStat.Metric), stat: MetricStat.Stat }],
  );
  if (Namespace === undefined || MetricName === undefined || Dimensions === undefined) return inside;
  return [...inside, { where, metric: metricOf({ Namespace, MetricName, Dimensions }), stat: Statistic ?? '' }];
}

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
    expect(looks().flatMap((look) => problem(look)?.concat(` (${look.where})`) ?? [])).toEqual([]);
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
    expect(looks.flatMap((look) => problem(look)?.concat(` (${look.where})`) ?? [])).toEqual([]);
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
    expect(new Set(named)).toEqual(new Set(runbooksOf(readFileSync('docs/operating.md', 'utf8'))));
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

/** Anchors as GitHub makes them of headings. */
function headingsOf(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
}

function runbooksOf(markdown: string): readonly string[] {
  const [, alarmsAndRest = ''] = markdown.split(/^## Alarms$/m);
  const [own = ''] = alarmsAndRest.split(/^## /m);
  return [...own.matchAll(/^### (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

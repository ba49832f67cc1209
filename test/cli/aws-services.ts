// A fake of the AWS Lambda and Systems Manager requests that `outrigger doctor`, `pause` and `--stage` send. It
// responds from the state that a test sets. SQS is a separate, real server.
import type { IncomingMessage } from 'node:http';
import { json, text } from 'node:stream/consumers';
import * as z from 'zod';
import { startHttpServer } from '../support/listen.ts';

/** The state of the account; tests change it. */
export type Account = {
  mappings: object[];
  /** Undefined: reading the limit is forbidden. */
  unreserved: number | undefined;
  /** The variable SENDER_CHECK of the functions. Default on. */
  senderCheck?: 'on' | 'off';
  /** The variable QUEUE_URL_PREFIX of the functions. */
  queueUrlPrefix?: string;
  /** The variable LOG_LEVEL of the functions. Default INFO. */
  logLevel?: string;
  /** The description of the functions. */
  description?: string | undefined;
  /** The timeout of the functions. Absent: it is not known. */
  timeoutSeconds?: number | 'denied';
  /** What a function has in its configuration, and its recursion setting, by name; null if there is no such function. */
  functions?: Readonly<Record<string, Readonly<Record<string, string>> | null>>;
  /** The state of the schedule, or the status of the answer. Default: enabled. */
  schedule?: 'DISABLED' | 403 | 404;
  /** The location of the clusters table. Default: the parameters. */
  table?: string;
  /** The entries of the clusters table, by the names of their parameters. */
  parameters: Record<string, string>;
  /** The messages in the log groups of functions, by the name of the function. */
  logs?: Readonly<Record<string, readonly string[]>>;
  /** The points of metrics, by function and metric; the status of each. Absent: reading them is forbidden. */
  metrics?: Readonly<Record<string, readonly number[] | 'one a period'>>;
  metricsStatus?: string;
  /** The confirmed subscriptions of the alarms' topic. Default one; undefined alarms: there are none. */
  subscriptions?: number | 'no alarms' | 'denied' | 'unreachable';
};

/** Starts the services on a free port. */
export async function startAwsServices(account: Account) {
  return await startHttpServer(async (request, response) => {
    if (request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true) {
      if (account.subscriptions === 'unreachable') return void request.destroy();
      const [code, xml] = respondToQuery(account, new URLSearchParams(await text(request)));
      response.writeHead(code, { 'content-type': 'text/xml' }).end(xml);
      return;
    }
    const [status, body] = await respond(account, request);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
}

/** CloudWatch and SNS, in the form of their API references. */
function respondToQuery(account: Account, query: URLSearchParams): readonly [number, string] {
  if (query.get('Action') === 'GetMetricData') return respondToMetrics(account, query);
  const { subscriptions = 1 } = account;
  if (subscriptions === 'denied')
    return [403, '<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>'];
  const topic = 'arn:aws:sns:us-east-1:000000000000:outrigger-dev-alarms';
  if (query.get('Action') === 'DescribeAlarms') {
    const isAsked = query.get('AlarmNames.member.1') === 'outrigger-dev-resync-not-run';
    const actions = `<AlarmActions>\n<member>${topic}</member>\n</AlarmActions>`;
    const alarms = isAsked && subscriptions !== 'no alarms' ? `<member>${actions}</member>` : '';
    return [200, `<DescribeAlarmsResponse><MetricAlarms>${alarms}</MetricAlarms></DescribeAlarmsResponse>`];
  }
  if (query.get('TopicArn') !== topic) return [404, '<Error><Code>NotFound</Code></Error>'];
  const entry = (key: string, value: number) => `<entry>\n<key>${key}</key>\n<value>${value}</value>\n</entry>`;
  const pending = entry('SubscriptionsPending', 1);
  return [200, `<Attributes>${pending}${entry('SubscriptionsConfirmed', Number(subscriptions))}</Attributes>`];
}

/** Of a metric without points the values are an empty element. The elements of a result have no order. */
function respondToMetrics({ metrics, metricsStatus }: Account, query: URLSearchParams): readonly [number, string] {
  if (metrics === undefined) return [403, '<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>'];
  const queries = [...query.keys()].filter((name) => /^MetricDataQueries\.member\.\d+\.Id$/.test(name));
  const results = queries.map((name) => {
    const at = name.slice(0, -'.Id'.length);
    const metric = `${at}.MetricStat.Metric`;
    const given = metrics[`${query.get(`${metric}.Dimensions.member.1.Value`)} ${query.get(`${metric}.MetricName`)}`];
    // The period in which the range begins is a whole one.
    const period = Number(query.get(`${at}.MetricStat.Period`)) * 1000;
    const time = (name: string) => Date.parse(query.get(name) ?? '') / period;
    const length = Math.ceil(time('EndTime')) - Math.floor(time('StartTime'));
    const points = given === 'one a period' ? Array.from({ length }, () => 1) : given;
    const values = points?.map((value) => `<member>${value}.0</member>`).join('\n');
    const isBare = metricsStatus === 'no values';
    const list = values === undefined ? '<Values/>' : `<Values>${values}</Values>`;
    const status = `<StatusCode>${isBare ? 'Complete' : (metricsStatus ?? 'Complete')}</StatusCode>`;
    const times = '<Timestamps><member>2026-11-28T03:05:00Z</member></Timestamps>';
    return `<member>${isBare ? '' : list}\n${times}<Id>${query.get(`${at}.Id`)}</Id>\n${status}</member>`;
  });
  const body = `<GetMetricDataResult><MetricDataResults>${results.join('')}</MetricDataResults></GetMetricDataResult>`;
  return [200, `<GetMetricDataResponse>${body}</GetMetricDataResponse>`];
}

const switched = z.object({ Enabled: z.boolean() });
const known = z.looseObject({ UUID: z.string() });

const byName = z.looseObject({ Name: z.string().optional(), Path: z.string().optional() });

async function respond(account: Account, request: IncomingMessage): Promise<readonly [number, object]> {
  const { url = '' } = request;
  if (`${request.headers['x-amz-target']}`.startsWith('Logs_')) {
    const { logGroupName } = z.object({ logGroupName: z.string() }).parse(await json(request));
    const messages = account.logs?.[logGroupName.replace('/aws/lambda/outrigger-dev-', '')] ?? [];
    return [200, { events: messages.map((message) => ({ message, timestamp: Date.now() })) }];
  }
  if (request.method === 'PUT') {
    const { Enabled } = switched.parse(await json(request));
    const [changed, ...more] = account.mappings
      .map((one) => known.parse(one))
      .filter(({ UUID }) => url === `/2015-03-31/event-source-mappings/${UUID}`);
    if (changed === undefined || more.length > 0) return [404, { Type: 'User', Message: 'no such mapping' }];
    const next = { ...changed, State: Enabled ? 'Enabled' : 'Disabled' };
    account.mappings = account.mappings.map((one) => (known.parse(one).UUID === changed.UUID ? next : one));
    return [202, next];
  }
  if (url === '/schedules/outrigger-dev-resync')
    return typeof account.schedule === 'number'
      ? [account.schedule, {}]
      : [200, { State: account.schedule ?? 'ENABLED' }];
  if (url.startsWith('/2015-03-31/event-source-mappings')) return [200, { EventSourceMappings: account.mappings }];
  if (url.startsWith('/2016-08-19/account-settings')) {
    if (account.unreserved === undefined) return [403, { __type: 'AccessDeniedException', Message: 'not you' }];
    return [200, { AccountLimit: { UnreservedConcurrentExecutions: account.unreserved } }];
  }
  const { table: CLUSTERS = 'ssm:/outrigger/dev/clusters/' } = account;
  const { senderCheck: SENDER_CHECK = 'on', queueUrlPrefix: QUEUE_URL_PREFIX, logLevel: LOG_LEVEL = 'INFO' } = account;
  const Variables = { CLUSTERS, SENDER_CHECK, QUEUE_URL_PREFIX, LOG_LEVEL };
  if (account.timeoutSeconds === 'denied' && url.startsWith('/2015-03-31/functions/outrigger-dev-foo/'))
    return [403, { __type: 'AccessDeniedException', Message: 'not you' }];
  const [, path, name = ''] = /^\/([\d-]+)\/functions\/outrigger-dev-([^/]+)/.exec(url) ?? [];
  const own = account.functions?.[name];
  if (own === null) return [404, { __type: 'ResourceNotFoundException', Message: 'no such function' }];
  if (path === '2024-08-31') return [200, { RecursiveLoop: 'Allow', ...own }];
  if (path !== undefined && own !== undefined) return [200, own];
  if (url.startsWith('/2015-03-31/functions/'))
    return [200, { Environment: { Variables }, Timeout: account.timeoutSeconds, Description: account.description }];
  const { Name, Path } = byName.parse(await json(request));
  const parameters = Object.entries(account.parameters).map(([name, Value]) => ({ Name: name, Value }));
  if (Path !== undefined) return [200, { Parameters: parameters }];
  const Parameter = parameters.find((one) => one.Name === Name);
  return Parameter === undefined ? [400, { __type: 'ParameterNotFound' }] : [200, { Parameter }];
}

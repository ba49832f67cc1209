// One dashboard for a deployment, a row for each controller: how much waits, how long changes take, what becomes of them.
import type { Registered } from '../core/controller.ts';
import { controllerDeadLetters, controllerQueue } from '../core/words.ts';
import { namePrefix } from './aws-names.ts';
import type { Json, JsonObject } from './json.ts';

const rowHeight = 6;
const namespace = 'Outrigger';

/** Makes the dashboard. Its body is text, with the region for AWS to fill in. */
export function dashboardOf(registry: readonly Registered[]): JsonObject {
  const widgets = registry.flatMap(({ name }, row) => {
    const own = (metric: string): Json => [namespace, metric, 'service', name];
    const queue = (metric: string, of: string): Json => ['AWS/SQS', metric, 'QueueName', `${namePrefix}${of}`];
    return [
      widget(row, 0, `${name}: waiting`, 'Maximum', [
        queue('ApproximateNumberOfMessagesVisible', controllerQueue(name)),
        queue('ApproximateAgeOfOldestMessage', controllerQueue(name)),
        queue('ApproximateNumberOfMessagesVisible', controllerDeadLetters(name)),
      ]),
      widget(row, 8, `${name}: from change to status`, 'p99', [own('LagMilliseconds')]),
      widget(row, 16, `${name}: reconciles`, 'Sum', [
        own('ReconcilesDone'),
        own('ReconcilesFailed'),
        own('ReconcilesDeferred'),
        own('DeadLetters'),
        own('Repaired'),
        own('ApplyNoops'),
      ]),
    ];
  });
  return {
    Type: 'AWS::CloudWatch::Dashboard',
    Properties: {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of serverless.yml
      DashboardName: '${self:custom.prefix}',
      DashboardBody: { 'Fn::Sub': JSON.stringify({ widgets }) },
    },
  };
}

function widget(row: number, x: number, title: string, stat: string, metrics: readonly Json[]): JsonObject {
  return {
    type: 'metric',
    x,
    y: row * rowHeight,
    width: 8,
    height: rowHeight,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: for Fn::Sub
    properties: { title, stat, period: 60, region: '${AWS::Region}', metrics },
  };
}

// The option MONITORING: how much CloudWatch watches, which it bills for each metric and alarm. The templates have the
// alarms of both `full` and `lean`.
import type { Resource, Template } from './template.ts';

/** full: a dashboard, and alarms of each controller. lean: the alarms below. off: nothing. */
export type Monitoring = 'full' | 'lean' | 'off';

/** Instead of the alarms of each dead-letter queue. */
export const leanOnlyAlarms = ['DeadLettersAlarm'];

/**
 * For the resync, which finds what anything else misses, timers, clusters, and a loop, which costs. What the wake
 * function fails for is a dead letter.
 */
export const leanAlarms = [
  ...leanOnlyAlarms,
  'ResyncNotRunAlarm',
  'ResyncErrorsAlarm',
  'TimersErrorsAlarm',
  'ClusterTroubleAlarm',
  'SelfTriggeredAlarm',
];

/** The policy of the resync's role for the metric of that alarm. */
const leanOnlyPolicy = 'dead-letter-queues';

/** Removes the alarms, the dashboard and the policy that the option leaves out; with `off` also the topic. */
export function withMonitoring<T extends Template>(template: T, monitoring: Monitoring): T {
  const all = Object.entries(template.Resources).map(
    ([id, one]) => [id, monitoring === 'lean' ? one : withoutLeanPolicy(one)] as const,
  );
  const kept = all.filter(([id, { Type }]) => {
    if (monitoring === 'full') return !leanOnlyAlarms.includes(id);
    if (Type === 'AWS::CloudWatch::Dashboard') return false;
    if (Type === 'AWS::CloudWatch::Alarm') return monitoring === 'lean' && leanAlarms.includes(id);
    return Type !== 'AWS::SNS::Topic' || monitoring === 'lean';
  });
  return { ...template, Resources: Object.fromEntries(kept) };
}

function withoutLeanPolicy(resource: Resource): Resource {
  const { Policies } = resource.Properties ?? {};
  if (!Array.isArray(Policies)) return resource;
  const others = Policies.filter((one) => Object(one).PolicyName !== leanOnlyPolicy);
  return { ...resource, Properties: { ...resource.Properties, Policies: others } };
}

// The option MONITORING: how much CloudWatch watches, which it bills for each metric and alarm. `full` is what the
// templates have.
import type { Template } from './with-options.ts';

/** full: a dashboard, and alarms of each controller. lean: the alarms below. off: nothing. */
export type Monitoring = 'full' | 'lean' | 'off';

/** One alarm for the resync, which finds what anything else misses, one for each shared function, one for clusters. */
const leanAlarms = ['ResyncNotRunAlarm', 'ResyncErrorsAlarm', 'TimersErrorsAlarm', 'ClusterTroubleAlarm'];

/** Removes the alarms and the dashboard that the option leaves out; with `off` also the topic. */
export function withMonitoring<T extends Template>(template: T, monitoring: Monitoring): T {
  if (monitoring === 'full') return template;
  const kept = Object.entries(template.Resources).filter(([id, { Type }]) => {
    if (Type === 'AWS::CloudWatch::Dashboard') return false;
    if (Type === 'AWS::CloudWatch::Alarm') return monitoring === 'lean' && leanAlarms.includes(id);
    return Type !== 'AWS::SNS::Topic' || monitoring === 'lean';
  });
  return { ...template, Resources: Object.fromEntries(kept) };
}

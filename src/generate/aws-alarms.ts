// What must wake somebody: a controller that falls behind, a key that was given up, a function that dies. SQS reports nothing
// for a queue that nobody uses, so missing values are fine.
import type { Registered } from '../core/controller.ts';
import { idOf, ref } from './aws-names.ts';
import type { JsonObject } from './json.ts';

/** A key that waits for longer than this is not being reconciled; what waits on purpose waits in timers. */
const lateSeconds = 300;

/** Makes a controller's alarms, by id. */
export function alarmsOf({ name }: Registered): JsonObject {
  const id = idOf(name);
  const queue = (of: string): JsonObject => ({ 'Fn::GetAtt': [of, 'QueueName'] });
  return {
    [`${id}LateAlarm`]: alarm(`${name}: keys wait for more than ${lateSeconds} s`, {
      Namespace: 'AWS/SQS',
      MetricName: 'ApproximateAgeOfOldestMessage',
      Dimensions: [{ Name: 'QueueName', Value: queue(`${id}Queue`) }],
      Statistic: 'Maximum',
      Threshold: lateSeconds,
      EvaluationPeriods: 3,
    }),
    [`${id}DeadLettersAlarm`]: alarm(`${name}: a key was given up`, {
      Namespace: 'AWS/SQS',
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Dimensions: [{ Name: 'QueueName', Value: queue(`${id}DeadLetters`) }],
      Statistic: 'Maximum',
      Threshold: 0,
      EvaluationPeriods: 1,
    }),
    [`${id}ErrorsAlarm`]: alarm(`${name}: the function fails or dies`, {
      Namespace: 'AWS/Lambda',
      MetricName: 'Errors',
      Dimensions: [{ Name: 'FunctionName', Value: ref(`${id}LambdaFunction`) }],
      Statistic: 'Sum',
      Threshold: 0,
      EvaluationPeriods: 3,
    }),
  };
}

function alarm(description: string, metric: JsonObject): JsonObject {
  return {
    Type: 'AWS::CloudWatch::Alarm',
    Properties: {
      AlarmDescription: description,
      ...metric,
      Period: 300,
      ComparisonOperator: 'GreaterThanThreshold',
      TreatMissingData: 'notBreaching',
      AlarmActions: [ref('AlarmTopic')],
      OKActions: [ref('AlarmTopic')],
    },
  };
}

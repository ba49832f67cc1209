// The part of `outrigger doctor` that checks that alarms are received: the deployment has alarms, and their topic has a
// subscriber.
//
// Sources: Amazon CloudWatch API reference, DescribeAlarms; Amazon SNS API reference, GetTopicAttributes.
import { toError, UserError } from 'outrigger/internal/core/errors';
import { resyncQueue } from 'outrigger/internal/core/names';
import { redact } from 'outrigger/internal/core/redact';
import type { Installation } from '../installation.ts';
import { nextStep } from '../next-step.ts';
import { awsCommand } from '../place.ts';
import { sendAwsQuery } from '../stage-table.ts';
import { type Finding, passFinding, warnFinding } from './finding.ts';

/** Checks the alarms' topic. Rejects only with the signal's reason. */
export async function checkAlarms(
  { urlPrefix, region }: Installation,
  { deploy, signal }: { readonly deploy: string; readonly signal: AbortSignal },
): Promise<readonly Finding[]> {
  const about = 'alarms';
  try {
    // Every deployment with alarms has this one.
    const alarm = `${urlPrefix.split('/').at(-1)}${resyncQueue}-not-run`;
    const named = { Action: 'DescribeAlarms', Version: '2010-08-01', 'AlarmNames.member.1': alarm };
    const [, topic] =
      /<AlarmActions>\s*<member>([^<]+)<\/member>/.exec(await sendAwsQuery('monitoring', named, { region })) ?? [];
    if (topic === undefined)
      return [warnFinding(about, 'there is none', `to have them: ${deploy} --param MONITORING=lean, or full`)];
    const attributes = { Action: 'GetTopicAttributes', Version: '2010-03-31', TopicArn: topic };
    const text = await sendAwsQuery('sns', attributes, { region });
    const [, confirmed = '0'] = /<key>SubscriptionsConfirmed<\/key>\s*<value>(\d+)<\/value>/.exec(text) ?? [];
    const [, pending = '0'] = /<key>SubscriptionsPending<\/key>\s*<value>(\d+)<\/value>/.exec(text) ?? [];
    if (Number(confirmed) > 0) return [passFinding(about, `${confirmed} subscriptions to ${topic}`)];
    const waits = Number(pending) > 0 ? `; ${pending} wait to be confirmed` : '';
    const options = `--topic-arn ${topic} --protocol email --notification-endpoint you@example.com`;
    const fix = awsCommand(urlPrefix, 'sns subscribe', options);
    return [warnFinding(about, `${topic} has no subscriber${waits}`, fix)];
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const allow = 'allow cloudwatch:DescribeAlarms and sns:GetTopicAttributes, or look at the topic in the console';
    const message = `it is not known whether they are received: ${redact(toError(error).message)}`;
    const reach = 'check that this machine reaches it (network, VPN, proxy), and try again';
    // Only an error without a response is a UserError.
    return [warnFinding(about, message, nextStep(error) ?? (error instanceof UserError ? reach : allow))];
  }
}

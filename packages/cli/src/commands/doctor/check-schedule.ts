// The part of `outrigger doctor` that checks the schedule of the resync: it is there, and is not disabled.
//
// Source: Amazon EventBridge Scheduler API reference, GetSchedule.
import { sendSigned } from 'outrigger/internal/clusters/auth/aws-identity';
import { resyncDefaults } from 'outrigger/internal/core/controller-options';
import { toError } from 'outrigger/internal/core/errors';
import { parseJson } from 'outrigger/internal/core/json';
import { resyncQueue } from 'outrigger/internal/core/names';
import { readAwsSettings } from 'outrigger/internal/settings';
import { partitionOf } from 'outrigger/internal/signing/partition';
import * as z from 'zod';
import type { Installation } from '../installation.ts';
import { nextStep } from '../next-step.ts';
import { awsAccess } from '../stage-table.ts';
import { type Finding, failFinding, warnFinding } from './finding.ts';

const about = 'schedule';
const shape = z.looseObject({ State: z.string() });

/** Checks the schedule. Rejects only with the signal's reason. */
export async function checkSchedule(
  { urlPrefix, region: given }: Pick<Installation, 'urlPrefix' | 'region'>,
  { deploy, signal }: { readonly deploy: string; readonly signal: AbortSignal },
): Promise<readonly Finding[]> {
  const name = `${urlPrefix.split('/').at(-1)}${resyncQueue}`;
  try {
    const caller = { ...awsAccess({ region: given }), endpoint: readAwsSettings().endpoint };
    const region = await caller.region();
    const host = `scheduler.${region}.${partitionOf(region).dnsSuffix}`;
    const path = `/schedules/${name}`;
    const { status, text } = await sendSigned(caller, { host, service: 'scheduler', region, method: 'GET', path });
    if (status === 404) {
      const fix = `${deploy}; if it was deleted: ${createCommand(name, urlPrefix, region)}`;
      return [failFinding(about, `there is no schedule ${name}: the resync does not run`, fix)];
    }
    if (status !== 200) throw new Error(`${host} answered ${status}`);
    if (shape.parse(parseJson(text)).State === 'ENABLED') return [];
    const fix = 'enable it in the console of EventBridge Scheduler';
    return [failFinding(about, `${name} is disabled: the resync does not run`, fix)];
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const allow = 'allow scheduler:GetSchedule, or look at it in the console of EventBridge Scheduler';
    return [warnFinding(about, `its state is not known: ${toError(error).message}`, nextStep(error) ?? allow)];
  }
}

/** CloudFormation does not see that it is gone, so a deployment does not make it again. */
function createCommand(name: string, urlPrefix: string, region: string): string {
  const { pathname } = new URL(urlPrefix);
  const arn = (service: string, rest: string) => `arn:${partitionOf(region).name}:${service}:${rest}`;
  const [, account = ''] = pathname.split('/');
  const target = {
    Arn: arn('lambda', `${region}:${account}:function:${name}`),
    RoleArn: arn('iam', `:${account}:role/${name.slice(0, -resyncQueue.length)}schedule-${region}`),
    Input: '{"time":"<aws.scheduler.scheduled-time>"}',
  };
  const rate = `--schedule-expression 'rate(${resyncDefaults.runIntervalSeconds / 60} minutes)'`;
  const options = `--region ${region} --name ${name} ${rate} --flexible-time-window Mode=OFF`;
  return `aws scheduler create-schedule ${options} --target '${JSON.stringify(target)}'`;
}

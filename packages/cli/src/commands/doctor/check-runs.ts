// The part of `outrigger doctor` that reads the logs of the functions: each can be loaded, reaches its clusters, and
// does not fail.
import type { NamedController } from '../../aws/wakes.ts';
import { functionText, throttledPage } from '../../console/health.ts';
import type { Installation } from '../installation.ts';
import { readTroubles, watchedFunctions } from '../key-log.ts';
import { type Finding, failFinding, passFinding, warnFinding } from './finding.ts';

/** Checks what the logs of the last 15 minutes say. Rejects only with the signal's reason. */
export async function checkRuns(
  installation: Installation,
  controllers: readonly NamedController[],
  options: { readonly folder: string; readonly signal: AbortSignal },
): Promise<readonly Finding[]> {
  const names = watchedFunctions(installation, controllers);
  const troubles = await readTroubles(installation, names, options);
  const healths = names.map((name) => ({ name, ...troubles.healthOf(name, false) }));
  const bad = healths.filter(({ tone }) => tone === 'bad');
  const unread = healths.filter(({ tone }) => tone === 'unknown');
  const findings = bad.map(({ name, ...health }) => {
    const lines = `outrigger logs and outrigger explain have the lines of an object of ${name}`;
    const fix = health.state === 'throttled' ? throttledPage : lines;
    return failFinding(`function ${name}`, functionText(health), fix);
  });
  if (unread.length > 0) {
    const about = `how the runs of ${unread.length} functions ended is not known`;
    const permit = 'permit logs:FilterLogEvents of their log groups, and cloudwatch:GetMetricData';
    const fix = `${permit}; deploy with LOG_LEVEL=INFO`;
    return [...findings, warnFinding('runs', `${about}: ${unread[0]?.text ?? ''}`, fix)];
  }
  return bad.length > 0 ? findings : [passFinding('runs', 'each run of the last 15 minutes succeeded')];
}

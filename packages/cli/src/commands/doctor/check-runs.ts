// The part of `outrigger doctor` that reads the logs of the functions: each can be loaded, reaches its clusters, and
// does not fail.
import type { NamedController } from '../../aws/wakes.ts';
import { functionText, throttledPage } from '../../console/health.ts';
import type { Installation } from '../installation.ts';
import { readTroubles, tooLong, watchedFunctions } from '../key-log.ts';
import { type Finding, failFinding, passFinding, warnFinding } from './finding.ts';

/** Checks what the logs of the last 15 minutes say. Rejects only with the signal's reason. */
export async function checkRuns(
  installation: Pick<Installation, 'on' | 'urlPrefix' | 'region' | 'at'>,
  controllers: readonly NamedController[],
  options: { readonly folder: string; readonly signal: AbortSignal },
): Promise<readonly Finding[]> {
  const { at } = installation;
  const names = watchedFunctions(installation, controllers);
  const troubles = await readTroubles(installation, names, options);
  const healths = names.map((name) => ({ name, ...troubles.healthOf(name, false) }));
  const bad = healths.filter(({ tone }) => tone === 'bad');
  const unread = healths.filter(({ tone }) => tone === 'unknown');
  const findings = bad.map(({ name, ...health }) => {
    const lines = `outrigger logs${at} and outrigger explain${at} have the lines of an object of ${name}`;
    const fix = health.state === 'throttled' ? throttledPage : lines;
    return failFinding(`function ${name}`, functionText(health), fix);
  });
  const permit = 'permit logs:FilterLogEvents of their log groups, and cloudwatch:GetMetricData';
  const unknown = [true, false].flatMap((isTooLong) => {
    const [one, ...more] = unread.filter(({ text }) => (text === tooLong) === isTooLong);
    if (one === undefined) return [];
    const about = `how the runs of ${more.length + 1} functions ended is not known`;
    const status = `outrigger status${at} counts the objects that fail`;
    return warnFinding(
      'runs',
      `${about}: ${one.text ?? ''}`,
      isTooLong ? status : `${permit}; deploy with LOG_LEVEL=INFO`,
    );
  });
  const all = [...findings, ...unknown];
  return all.length > 0 ? all : [passFinding('runs', 'each run of the last 15 minutes succeeded')];
}

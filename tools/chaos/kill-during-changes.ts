// Functions are killed right after random effects while users make changes. Kills after each single effect without
// other changes are in effects/crash-each-effect.ts.
import { setTimeout as wait } from 'node:timers/promises';
import type { ProxiedRequest } from './chaos-proxy.ts';
import { functionPids, killAll } from './kill-functions.ts';
import { portionsPath } from './portions.ts';
import type { ChaosFixture } from './row.ts';

/** Some work must succeed between two kills. */
const maxEffectsBetween = 20;
const maxSeconds = 300;
const pollMilliseconds = 100;
const finalizer = 'outrigger.dev/';

/**
 * Kills all processes of Ingredient's function right after an effect, repeatedly, while users make changes. Returns how
 * many processes were killed.
 */
export async function killDuringChanges({
  system,
  editor,
  checker,
  random,
  changes,
  kills,
  addNote,
}: ChaosFixture): Promise<number> {
  const effectsKilledAfter: string[] = [];
  let killedProcesses = 0;
  let effectsLeft = maxEffectsBetween;
  /** Returns whether the function is killed after this effect. */
  const isKillDue = (): boolean => {
    effectsLeft -= 1;
    if (effectsLeft > 0 || effectsKilledAfter.length >= kills) return false;
    effectsLeft = 1 + random.below(maxEffectsBetween);
    return true;
  };
  const kill = (effect: string) => {
    effectsKilledAfter.push(effect);
    killedProcesses += killAll(functionPids(system));
  };
  system.api.rule((request) => {
    const effect = functionEffect(request);
    return effect !== undefined && isKillDue() ? { type: 'drop-response', onExecuted: () => kill(effect) } : undefined;
  });
  system.pantry.onRequest(() => {
    if (isKillDue()) kill('a pantry request');
  });
  system.retryCrashedAtOnce(true);
  await editor.edit(changes);
  // Functions that restart all the time lag behind the users for a while.
  const deadline = performance.now() + maxSeconds * 1000;
  while (effectsKilledAfter.length < kills && performance.now() < deadline) {
    await editor.edit(1);
    await wait(pollMilliseconds);
  }
  system.api.rule();
  system.pantry.onRequest(() => undefined);
  const unconverged = await checker.untilConverged(maxSeconds);
  system.retryCrashedAtOnce(false);
  const kinds = [...Map.groupBy(effectsKilledAfter, (effect) => effect)].map(
    ([effect, { length }]) => `${length} x ${effect}`,
  );
  addNote(
    `ingredient, during changes: ${effectsKilledAfter.length} times, ${killedProcesses} processes, after ${kinds.join(', ')}`,
  );
  if (unconverged.length > 0) throw new Error(unconverged.join('; '));
  return killedProcesses;
}

/**
 * The effect of a request that only Ingredient's function makes, as the proxies receive it: no other client of the
 * proxies writes portions.
 */
function functionEffect({ method, url, body }: ProxiedRequest): string | undefined {
  if (method !== 'PATCH' || !url.startsWith(portionsPath)) return undefined;
  if (url.includes('/status')) return 'a status write';
  return body.includes(finalizer) ? 'a finalizer added' : 'a finalizer removed';
}

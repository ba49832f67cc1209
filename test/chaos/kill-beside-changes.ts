// Functions die right after effects while users work: after those that the dice choose, because what else goes on then is what matters.
// After each single effect of a quiet life they die in effects/lives.ts.
import { setTimeout as wait } from 'node:timers/promises';
import type { Asked } from './chaos-proxy.ts';
import { functionPids, killAll } from '../../tools/chaos/kill-functions.ts';
import { portionsPath } from '../../tools/chaos/portions.ts';
import type { Stage } from './row.ts';

/** Something must get done between two deaths: SQS buries what was received ten times. */
const mostEffectsBetween = 20;
const mostSeconds = 300;
const lookMilliseconds = 100;
const finalizer = 'outrigger.dev/';

/** Ends the lives of Ingredient's functions, all at once after an effect, while users work. Returns how many processes died. */
export async function killBesideChanges({ system, editor, judge, dice, changes, kills, note }: Stage): Promise<number> {
  const struck: string[] = [];
  let deaths = 0;
  let effectsLeft = mostEffectsBetween;
  /** Tells whether it has come to the effect that is the last of somebody's life. */
  const isLast = (): boolean => {
    effectsLeft -= 1;
    if (effectsLeft > 0 || struck.length >= kills) return false;
    effectsLeft = 1 + dice.below(mostEffectsBetween);
    return true;
  };
  const die = (effect: string) => {
    struck.push(effect);
    deaths += killAll(functionPids(system));
  };
  system.api.rule((asked) => {
    const effect = functionEffect(asked);
    return effect !== undefined && isLast() ? { type: 'swallow', acted: () => die(effect) } : undefined;
  });
  system.world.onVisit(() => {
    if (isLast()) die('a move of goods');
  });
  system.hasten(true);
  await editor.edit(changes);
  // Functions that start anew all the time are behind the users for a while.
  const giveUpAt = performance.now() + mostSeconds * 1000;
  while (struck.length < kills && performance.now() < giveUpAt) {
    await editor.edit(1);
    await wait(lookMilliseconds);
  }
  system.api.rule();
  system.world.onVisit(() => undefined);
  const late = await judge.untilConverged(mostSeconds);
  system.hasten(false);
  const sorts = [...Map.groupBy(struck, (effect) => effect)].map(([effect, { length }]) => `${length} x ${effect}`);
  note(`ingredient, beside changes: ${struck.length} times, ${deaths} processes, after ${sorts.join(', ')}`);
  if (late.length > 0) throw new Error(late.join('; '));
  return deaths;
}

/** What Ingredient's function alone does, as the proxies see it: it alone writes portions through them. */
function functionEffect({ method, url, body }: Asked): string | undefined {
  if (method !== 'PATCH' || !url.startsWith(portionsPath)) return undefined;
  if (url.includes('/status')) return 'a status';
  return body.includes(finalizer) ? 'a finalizer put' : 'a finalizer taken';
}

// Only one controller, on the embedded parts; `npm run chaos` has all of them, and the real control plane. That any controller's next
// run ends well after a death in memory is test/cross; here real processes of the bundled function die, and SQS brings the message back.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { liveAll } from './lives.ts';
import { subjects } from '../../../tools/chaos/effects/subjects.ts';
import { startWholeSystem, type WholeSystem } from '../../../tools/chaos/effects/whole-system.ts';

const startSeconds = 170;
const livesSeconds = 400;
let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem({ real: false }, AbortSignal.timeout(startSeconds * 1000));
}, startSeconds * 1000);
afterAll(async () => {
  await system?.close();
});

it.each(subjects.flat().filter(({ controller }) => controller === 'ingredient'))(
  'X6: $controller: its function’s process is killed after each effect, and all ends as if it had not been',
  async (subject) => {
    const { effects, deaths, wrong } = await liveAll(system, subject);
    expect(wrong).toEqual([]);
    // Messages are deleted early in a slow run only.
    const certain = effects.flat().filter((effect) => effect !== 'DeleteMessageBatch');
    expect(deaths).toBeGreaterThanOrEqual(certain.length);
    expect(certain.length).toBeGreaterThanOrEqual(9);
  },
  livesSeconds * 1000,
);

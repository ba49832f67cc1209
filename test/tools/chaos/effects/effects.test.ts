// Only one controller, on the embedded API server; `npm run chaos` has all controllers and the real control plane. That the
// run after a crash ends correctly is test/statements/every-controller.test.ts; here real processes of the bundled
// function are killed, and SQS redelivers the message.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { crashAfterEachEffect } from '../../../../tools/chaos/effects/crash-each-effect.ts';
import { subjects } from '../../../../tools/chaos/effects/subjects.ts';
import { startWholeSystem, type WholeSystem } from '../../../../tools/chaos/effects/whole-system.ts';

const startSeconds = 170;
const runSeconds = 400;
let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem({ real: false }, AbortSignal.timeout(startSeconds * 1000));
}, startSeconds * 1000);
afterAll(async () => {
  await system?.close();
});

it.each(subjects.flat().filter(({ controller }) => controller === 'ingredient'))(
  'X6: $controller: kills of its function after each effect do not change the final state',
  async (subject) => {
    const { effects, kills, differences } = await crashAfterEachEffect(system, subject);
    expect(differences).toEqual([]);
    // Messages are deleted early only in a slow run.
    const guaranteed = effects.flat().filter((effect) => effect !== 'DeleteMessageBatch');
    expect(kills).toBeGreaterThanOrEqual(guaranteed.length);
    expect(guaranteed.length).toBeGreaterThanOrEqual(9);
  },
  runSeconds * 1000,
);

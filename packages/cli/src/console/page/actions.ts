// The actions of the user: an action that cannot be undone is confirmed first. Then it is sent, and its result is
// shown.
import { signal } from '@preact/signals';
import type { ActionResult, ConsoleAction } from '../wire.ts';
import { post, system } from './store.ts';

/** A question before an action. `confirm` is the text of its button. */
export type Question = {
  readonly title: string;
  readonly text: string;
  readonly confirm: string;
  readonly isDangerous?: boolean;
};
type Asked = { readonly question: Question; readonly reply: (confirmed: boolean) => void };

export const asked = signal<Asked | undefined>(undefined);
export const notice = signal<{ readonly text: string; readonly failed: boolean } | undefined>(undefined);

const noticeMilliseconds = 6_000;
let noticeTimer: ReturnType<typeof setTimeout> | undefined;

/** Asks the reader. Resolves when a button was pressed. */
async function confirmed(question: Question): Promise<boolean> {
  return await new Promise<boolean>((resolve) => {
    asked.value = {
      question,
      reply: (answer) => {
        asked.value = undefined;
        resolve(answer);
      },
    };
  });
}

/**
 * Carries out an action and shows its result. Returns undefined if it was not confirmed, or if it failed. On a stage
 * every action is confirmed.
 */
export async function perform(action: ConsoleAction, question?: Question): Promise<ActionResult | undefined> {
  const isAsked = question !== undefined || system.value?.mode === 'stage';
  const text = question ?? { title: 'Are you sure?', text: 'This changes the stage.', confirm: 'Do it' };
  if (isAsked && !(await confirmed(text))) return undefined;
  try {
    const result = await post(action);
    show(result.text, false);
    return result;
  } catch (error) {
    show(error instanceof Error ? error.message : String(error), true);
    return undefined;
  }
}

function show(text: string, failed: boolean): void {
  notice.value = { text, failed };
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => {
    notice.value = undefined;
  }, noticeMilliseconds);
}

// The actions of the user: an action that cannot be undone is confirmed first. Then it is sent, and its result is
// shown.
import { signal } from '@preact/signals';
import { type ActionResult, type ConsoleAction, type ObjectRow, refusedByReadOnly } from '../wire.ts';
import { post, system } from './store.ts';

/** A question before an action: `Pause WaterTank default/north in cluster berlin on stage prod?` */
export type Question = {
  /** The text of the button too. */
  readonly verb: string;
  /** With its kind and its cluster, so that a reader sees which one of several it is. */
  readonly what: string;
  readonly text: string;
  readonly isDangerous?: boolean;
  /** It can be undone, so it is asked on a stage only. */
  readonly isHarmless?: boolean;
};
type Asked = { readonly question: Question; readonly title: string; readonly reply: (confirmed: boolean) => void };

export const asked = signal<Asked | undefined>(undefined);
export const notice = signal<{ readonly text: string; readonly failed: boolean } | undefined>(undefined);

const noticeMilliseconds = 6_000;
let noticeTimer: ReturnType<typeof setTimeout> | undefined;

/** Names an object in a question. */
export function named({ kind, namespace, name, cluster }: ObjectRow): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name} in cluster ${cluster}`;
}

/** Asks the reader. Resolves when a button was pressed. */
async function confirmed(question: Question): Promise<boolean> {
  const { mode, name } = system.value ?? {};
  const title = `${question.verb} ${question.what}${mode === 'stage' ? ` on stage ${name}` : ''}?`;
  return await new Promise<boolean>((resolve) => {
    asked.value = {
      question,
      title,
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
export async function perform(action: ConsoleAction, question: Question): Promise<ActionResult | undefined> {
  const refusal = refusedByReadOnly(system.value ?? {}, action);
  if (refusal !== undefined) {
    show(refusal, true);
    return undefined;
  }
  const isAsked = question.isHarmless !== true || system.value?.mode === 'stage';
  if (isAsked && !(await confirmed(question))) return undefined;
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

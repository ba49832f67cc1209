// What lies above the views: the search, the question before an action, and the notice of its result.
import { asked, notice } from '../actions.ts';
import { finding } from '../store.ts';
import { Find } from './find.tsx';
import { useModal } from './modal.ts';

export function Overlays() {
  return (
    <>
      {finding.value !== undefined && <Find />}
      {asked.value !== undefined && <Confirm />}
      <div class="notices" role="status" aria-label="Result of the last action">
        {notice.value !== undefined && <p class={`notice ${notice.value.failed ? 'bad' : ''}`}>{notice.value.text}</p>}
      </div>
    </>
  );
}

function Confirm() {
  const dialog = useModal();
  const current = asked.value;
  if (current === undefined) return null;
  const { question, title, reply } = current;
  return (
    <dialog ref={dialog} class="confirm" aria-labelledby="confirm-title" onCancel={() => reply(false)}>
      <h2 id="confirm-title">{title}</h2>
      <p>{question.text}</p>
      <div class="confirm-buttons">
        <button type="button" class="button" onClick={() => reply(false)}>
          Cancel
        </button>
        <button
          type="button"
          class={`button ${question.isDangerous === true ? 'danger' : 'primary'}`}
          onClick={() => reply(true)}
        >
          {question.verb}
        </button>
      </div>
    </dialog>
  );
}

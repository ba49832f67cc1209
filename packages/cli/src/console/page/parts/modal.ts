// A modal dialog: it is opened when it is drawn, and gives the focus back when it goes.
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

export function useModal(): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    // A dialog that is removed does not give the focus back by itself.
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return dialog;
}

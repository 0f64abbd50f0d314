import { type ReactNode, useEffect, useId, useRef } from 'react';
import { IconButton } from './button.tsx';

export type DialogProps = Readonly<{
  title: string;
  onClose: () => void;
  canClose?: boolean;
  size?: 's' | 'm' | 'l' | 'drawer';
  children: ReactNode;
}>;

const firstField =
  'form :is(input:not([type=radio], [type=checkbox], [type=hidden]), textarea):not(:disabled)';

export function Dialog({ title, onClose, canClose = true, size = 'm', children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();

  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    element?.showModal();
    // Browsers focus the close button, which a space typed into a name would then press.
    element?.querySelector<HTMLElement>(firstField)?.focus();
    return () => {
      element?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);

  return (
    <dialog
      ref={dialog}
      className={`dialog dialog-${size}`}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        if (canClose) onClose();
      }}
      onKeyDown={(event) => {
        // Browsers close on a second Escape without a cancel event.
        if (event.key === 'Escape' && !canClose) event.preventDefault();
      }}
      onClose={() => {
        // A disabled button loses focus, and its keys then do not reach the dialog.
        if (!canClose) dialog.current?.showModal();
      }}
      onClick={(event) => {
        if (event.target === dialog.current && canClose) onClose();
      }}
    >
      <div className="dialog-sheet">
        <header className="dialog-head">
          <h2 id={titleId}>{title}</h2>
          {canClose ? <IconButton icon="close" label="Close" onClick={onClose} /> : null}
        </header>
        <div className="dialog-body">{children}</div>
      </div>
    </dialog>
  );
}

/** Shows the result of an action if a long form put it below the visible part of its dialog. */
export const scrollIntoDialog = (result: HTMLElement | null): void => {
  if (result?.closest('dialog')) result.scrollIntoView({ block: 'nearest' });
};

export const DialogActions = ({ children }: { children: ReactNode }) => (
  <footer className="dialog-actions">{children}</footer>
);

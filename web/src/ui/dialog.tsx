import { type ReactNode, useEffect, useId, useRef } from 'react';
import { IconButton } from './button.tsx';

export type DialogProps = Readonly<{
  title: string;
  /** Asked for by Escape, the cross, or a press beside it. */
  onClose: () => void;
  /** false: it stays until what it asks for was done. */
  canClose?: boolean;
  /** `drawer`: at the right edge, as high as the window. */
  size?: 's' | 'm' | 'l' | 'drawer';
  children: ReactNode;
}>;

/** The browser's own modal dialog: it holds the focus, gives it back, and makes the rest inert. Mount it to open it. */
export function Dialog({ title, onClose, canClose = true, size = 'm', children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();

  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    element?.showModal();
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
        // A second Escape would close it without asking.
        if (event.key === 'Escape' && !canClose) event.preventDefault();
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

/** The row of buttons at the end of a dialog. */
export const DialogActions = ({ children }: { children: ReactNode }) => (
  <footer className="dialog-actions">{children}</footer>
);

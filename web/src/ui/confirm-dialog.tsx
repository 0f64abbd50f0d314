import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import { Fault } from './field.tsx';

/** Asks once more before something that somebody will miss; it says what follows. */
export const ConfirmDialog = ({
  title,
  action,
  children,
  choice = null,
  problem,
  isBusy,
  onClose,
  onConfirm,
}: {
  title: string;
  /** What the button says. */
  action: string;
  children: ReactNode;
  /** What is chosen on the way. */
  choice?: ReactNode;
  problem: unknown;
  isBusy: boolean;
  onClose: () => void;
  onConfirm: () => void;
}) => (
  <Dialog title={title} size="s" onClose={onClose}>
    <div className="stack">
      <p>{children}</p>
      {choice}
      <Fault problem={problem} />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" busy={isBusy} onClick={onConfirm}>
          {action}
        </Button>
      </DialogActions>
    </div>
  </Dialog>
);

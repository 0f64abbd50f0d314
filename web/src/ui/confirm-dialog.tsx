import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import { FormError } from './field.tsx';

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
  action: string;
  children: ReactNode;
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
      <FormError problem={problem} />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" busy={isBusy} onClick={onConfirm}>
          {action}
        </Button>
      </DialogActions>
    </div>
  </Dialog>
);

import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import { Snippet } from './snippet.tsx';

/** Shows a secret that cannot be shown again. Only its button closes it. */
export const ShownOnceDialog = ({
  title,
  secret,
  label,
  children,
  onClose,
}: {
  title: string;
  secret: string;
  /** Names the secret for screen readers. */
  label: string;
  children: ReactNode;
  onClose: () => void;
}) => (
  <Dialog title={title} canClose={false} onClose={onClose}>
    <div className="stack">
      <p>{children}</p>
      <Snippet text={secret} label={label} />
      <DialogActions>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </div>
  </Dialog>
);

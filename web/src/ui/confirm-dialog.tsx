import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import { Field, FormError } from './field.tsx';

export function ConfirmDialog({
  title,
  action,
  children,
  choice = null,
  toType = null,
  problem,
  isBusy,
  onClose,
  onConfirm,
}: {
  title: string;
  action: string;
  children: ReactNode;
  choice?: ReactNode;
  /** Text that must be typed first; null: a click is enough. */
  toType?: string | null;
  problem: unknown;
  isBusy: boolean;
  onClose: () => void;
  onConfirm: () => void;
}) {
  const [typedText, setTyped] = useState('');
  const isConfirmed = toType === null || typedText === toType;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isConfirmed) onConfirm();
  };
  return (
    <Dialog title={title} size="s" canClose={!isBusy} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <p>{children}</p>
        {choice}
        {toType === null ? null : (
          <Field
            label={
              <>
                Type <code>{toType}</code> to confirm
              </>
            }
            name="word"
          >
            {(field) => (
              <input
                {...field}
                className="input"
                autoComplete="off"
                value={typedText}
                onChange={(event) => setTyped(event.target.value)}
              />
            )}
          </Field>
        )}
        <FormError problem={problem} />
        <DialogActions>
          <Button disabled={isBusy} onClick={onClose}>
            Cancel
          </Button>
          <Button kind="danger" type="submit" disabled={!isConfirmed} busy={isBusy}>
            {action}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

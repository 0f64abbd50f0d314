import { type FormEvent, useState } from 'react';
import type { KeyJson } from '../../../../src/control/api/contract/keys.ts';
import { useChange } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Field, FormError } from '../../ui/field.tsx';
import { useToast } from '../../ui/toast.tsx';

export function RevokeDialog({ targets, onClose }: { targets: readonly KeyJson[]; onClose: () => void }) {
  const { customer } = useSession();
  const toast = useToast();
  const [typedText, setTyped] = useState('');
  const revoke = useChange('POST /customers/{customer}/keys/revoke');
  const [first] = targets;
  const confirmation = targets.length === 1 && first !== undefined ? first.name : `revoke ${targets.length}`;

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (typedText !== confirmation) return;
    revoke.mutate(
      { path: { customer: customer.id }, body: { ids: targets.map(({ id }) => id) } },
      {
        onSuccess: () => {
          toast(targets.length === 1 ? `“${confirmation}” revoked.` : `${targets.length} keys revoked.`);
          onClose();
        },
      },
    );
  };

  return (
    <Dialog
      title={targets.length === 1 ? `Revoke “${confirmation}”?` : `Revoke ${targets.length} keys?`}
      size="s"
      onClose={onClose}
    >
      <form onSubmit={submit} className="stack">
        <p>
          This cannot be undone. Requests are rejected within a second, and open WebSocket connections and
          gRPC streams are closed. To replace a key without downtime, rotate it instead.
        </p>
        {targets.length > 1 ? (
          <ul className="consequences">
            {targets.map(({ id, name, start }) => (
              <li key={id}>
                {name} <span className="muted mono">{start}…</span>
              </li>
            ))}
          </ul>
        ) : null}
        <Field
          label={
            <>
              Type <code>{confirmation}</code> to confirm
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
        <FormError problem={revoke.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" type="submit" disabled={typedText !== confirmation} busy={revoke.isPending}>
            Revoke
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

import { type FormEvent, useState } from 'react';
import type { MemberRole } from '../../../../src/control/accounts/roles.ts';
import { useChange } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Field, FormError } from '../../ui/field.tsx';
import { ShownOnceDialog } from '../../ui/shown-once-dialog.tsx';
import { roleNames, roles } from './role-descriptions.ts';

export function InviteDialog({ onClose }: { onClose: () => void }) {
  const { customer, can } = useSession();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<MemberRole>('developer');
  const invite = useChange('POST /customers/{customer}/invitations');

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    invite.mutate({ path: { customer: customer.id }, body: { email, role } });
  };

  if (invite.data !== undefined) {
    const { link, mailed } = invite.data;
    return (
      <ShownOnceDialog
        title={`${invite.data.invitation.email} invited`}
        secret={link}
        label="invitation link"
        onClose={onClose}
      >
        {mailed ? 'The invitation was emailed. You can also share this link. ' : 'Share this link. '}
        It works once and will not be shown again.
      </ShownOnceDialog>
    );
  }
  return (
    <Dialog title="Invite member" size="s" canClose={!invite.isPending} onClose={onClose}>
      <form onSubmit={submit} className="stack">
        <Field label="Email" name="email" problem={invite.error}>
          {(field) => (
            <input
              {...field}
              className="input"
              type="email"
              required
              value={email}
              onChange={(event) => setEmail(event.target.value)}
            />
          )}
        </Field>
        <fieldset className="stack-tight">
          <legend className="field-label">Role</legend>
          {roles
            .filter((one) => one.role !== 'owner' || can('owner'))
            .map((one) => (
              <label key={one.role} className="pick">
                <input
                  type="radio"
                  name="role"
                  checked={role === one.role}
                  onChange={() => setRole(one.role)}
                />
                <span>
                  <strong>{roleNames[one.role]}</strong>
                  <span className="muted">{one.description}</span>
                </span>
              </label>
            ))}
        </fieldset>
        <FormError problem={invite.error} />
        <DialogActions>
          <Button disabled={invite.isPending} onClick={onClose}>
            Cancel
          </Button>
          <Button kind="primary" type="submit" busy={invite.isPending}>
            Invite
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

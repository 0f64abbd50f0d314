import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useAttempt } from '../../attempt.ts';
import { changeName, changePassword, startLink } from '../../auth.ts';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { FormError } from '../../ui/field.tsx';
import { Panel } from '../../ui/panel.tsx';
import { useToast } from '../../ui/toast.tsx';
import { checkPassword, passwordRule } from '../sign-in/password-rule.ts';
import { TextInput } from '../sign-in/text-input.tsx';
import { SessionList } from './session-list.tsx';
import { TwoFactorSettings } from './two-factor-settings.tsx';

export const UserSettings = () => (
  <div className="columns columns-2 settings">
    <div className="stack">
      <Profile />
      <Password />
      <LinkedAccounts />
    </div>
    <div className="stack">
      <TwoFactorSettings />
      <SessionList />
    </div>
  </div>
);

function Profile() {
  const { user } = useSession();
  const toast = useToast();
  const client = useQueryClient();
  const [name, setName] = useState(user.name);
  const { problem, isBusy, run } = useAttempt();

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    run(async () => {
      await changeName(name.trim());
      await client.invalidateQueries();
      toast('Saved.');
    });
  };
  return (
    <Panel title="Profile">
      <form onSubmit={submit} className="stack">
        <TextInput
          label="Name"
          name="name"
          autoComplete="name"
          value={name}
          onChange={setName}
          problem={problem}
        />
        <p>
          <span className="muted">Email</span> {user.email}
        </p>
        <FormError problem={problem} />
        <div>
          <Button type="submit" busy={isBusy} disabled={name.trim() === '' || name === user.name}>
            Save
          </Button>
        </div>
      </form>
    </Panel>
  );
}

function Password() {
  const toast = useToast();
  const client = useQueryClient();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const { problem, isBusy, run } = useAttempt();

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    run(async () => {
      checkPassword(next, 'newPassword');
      await changePassword(current, next);
      setCurrent('');
      setNext('');
      await client.invalidateQueries();
      toast('Password changed. Other sessions were signed out.');
    });
  };
  return (
    <Panel title="Password">
      <form onSubmit={submit} className="stack">
        <TextInput
          label="Current password"
          name="currentPassword"
          type="password"
          autoComplete="current-password"
          value={current}
          onChange={setCurrent}
          problem={problem}
        />
        <TextInput
          label="New password"
          name="newPassword"
          type="password"
          autoComplete="new-password"
          hint={`${passwordRule} Other sessions will be signed out.`}
          value={next}
          onChange={setNext}
          problem={problem}
        />
        <FormError problem={problem} />
        <div>
          <Button type="submit" busy={isBusy}>
            Change password
          </Button>
        </div>
      </form>
    </Panel>
  );
}

function LinkedAccounts() {
  const { service } = useSession();
  const { problem, isBusy, run } = useAttempt();
  if (service.oidc.length === 0) return null;
  return (
    <Panel title="Linked accounts" note="Link an external account to sign in with it.">
      <div className="row">
        {service.oidc.map(({ id, name }) => (
          <Button
            key={id}
            busy={isBusy}
            onClick={() => run(async () => window.location.assign(await startLink(id, '/settings')))}
          >
            Link {name}
          </Button>
        ))}
      </div>
      <FormError problem={problem} />
    </Panel>
  );
}

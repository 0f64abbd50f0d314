import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useAttempt } from '../../attempt.ts';
import { requestReset, resetPassword } from '../../auth.ts';
import { Button } from '../../ui/button.tsx';
import { Fault } from '../../ui/field.tsx';
import { useToast } from '../../ui/toast.tsx';
import { AuthLayout } from './auth-layout.tsx';
import { checkPassword, passwordRule } from './password-rule.ts';
import { TextInput } from './text-input.tsx';
import { useUrlToken } from './url-token.ts';

/** Sets a new password: first asks for the link, then, by the link, for the password. */
export function ResetPage() {
  const token = useUrlToken();
  return token === '' ? <RequestResetLink /> : <NewPassword token={token} />;
}

function RequestResetLink() {
  const [email, setEmail] = useState('');
  const [isSent, setIsSent] = useState(false);
  const { problem, isBusy, run } = useAttempt();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    run(async () => {
      await requestReset(email);
      setIsSent(true);
    });
  };
  return (
    <AuthLayout title="A new password">
      {isSent ? (
        <p role="status">
          If there is an account with this address, a link is on its way. It works for an hour.
        </p>
      ) : (
        <form onSubmit={submit} className="stack">
          <TextInput
            label="E-mail"
            name="email"
            type="email"
            autoComplete="username"
            value={email}
            onChange={setEmail}
            problem={problem}
          />
          <Fault problem={problem} />
          <Button kind="primary" type="submit" busy={isBusy}>
            Send me a link
          </Button>
        </form>
      )}
      <p>
        <Link to="/sign-in">Sign in</Link>
      </p>
    </AuthLayout>
  );
}

function NewPassword({ token }: { token: string }) {
  const navigate = useNavigate();
  const toast = useToast();
  const [password, setPassword] = useState('');
  const { problem, isBusy, run } = useAttempt();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    run(async () => {
      checkPassword(password, 'newPassword');
      await resetPassword(token, password);
      toast('The password is set. Sign in with it.');
      await navigate({ to: '/sign-in', search: {} });
    });
  };
  return (
    <AuthLayout title="A new password">
      <form onSubmit={submit} className="stack">
        <TextInput
          label="New password"
          name="newPassword"
          type="password"
          autoComplete="new-password"
          isFirst
          hint={`${passwordRule} You are signed out everywhere else.`}
          value={password}
          onChange={setPassword}
          problem={problem}
        />
        <Fault problem={problem} />
        <Button kind="primary" type="submit" busy={isBusy}>
          Set it
        </Button>
      </form>
    </AuthLayout>
  );
}

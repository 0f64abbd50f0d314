import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useAttempt } from '../../attempt.ts';
import { requestReset, resetPassword } from '../../auth.ts';
import { useCall } from '../../queries.ts';
import { Button } from '../../ui/button.tsx';
import { FormError } from '../../ui/field.tsx';
import { useToast } from '../../ui/toast.tsx';
import { AuthLayout } from './auth-layout.tsx';
import { checkPassword, passwordRule } from './password-rule.ts';
import { TextInput } from './text-input.tsx';
import { useUrlToken } from './url-token.ts';

export function ResetPage() {
  const token = useUrlToken();
  return token === '' ? <RequestResetLink /> : <NewPassword token={token} />;
}

function RequestResetLink() {
  const me = useCall('GET /me', {});
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
    <AuthLayout title="Reset password">
      {me.data?.service.mail === false ? (
        <p>
          Password reset by email is not set up. Contact your operator for a reset link. Operators create one
          with <code>solway operator password</code>.
        </p>
      ) : isSent ? (
        <p role="status">
          If an account exists for this email address, we sent a reset link. It expires in one hour.
        </p>
      ) : (
        <form onSubmit={submit} className="stack">
          <TextInput
            label="Email"
            name="email"
            type="email"
            autoComplete="username"
            value={email}
            onChange={setEmail}
            problem={problem}
          />
          <FormError problem={problem} />
          <Button kind="primary" type="submit" busy={isBusy}>
            Send reset link
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
      toast('Password changed. Sign in with your new password.');
      await navigate({ to: '/sign-in', search: {} });
    });
  };
  return (
    <AuthLayout title="Reset password">
      <form onSubmit={submit} className="stack">
        <TextInput
          label="New password"
          name="newPassword"
          type="password"
          autoComplete="new-password"
          isFirst
          hint={`${passwordRule} All sessions will be signed out.`}
          value={password}
          onChange={setPassword}
          problem={problem}
        />
        <FormError problem={problem} />
        <Button kind="primary" type="submit" busy={isBusy}>
          Set password
        </Button>
      </form>
    </AuthLayout>
  );
}

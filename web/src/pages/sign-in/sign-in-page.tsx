import { useQueryClient } from '@tanstack/react-query';
import { Link, useRouter, useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useAttempt } from '../../attempt.ts';
import { signIn, startOidc, submitBackupCode, submitTotp } from '../../auth.ts';
import { useCall } from '../../queries.ts';
import { Button } from '../../ui/button.tsx';
import { Checkbox, Field, FormError } from '../../ui/field.tsx';
import { AuthLayout } from './auth-layout.tsx';
import { TextInput } from './text-input.tsx';

function useCompleteSignIn(): () => Promise<void> {
  const router = useRouter();
  const client = useQueryClient();
  const { next } = useSearch({ from: '/sign-in' });
  return async () => {
    await client.resetQueries();
    router.history.push(next ?? '/');
  };
}

export function SignInPage() {
  const { next, error } = useSearch({ from: '/sign-in' });
  const me = useCall('GET /me', {});
  const [step, setStep] = useState<'password' | 'code'>('password');
  const service = me.data?.service;

  if (step === 'code') return <SecondFactor />;
  return (
    <AuthLayout title="Sign in">
      {service?.needsSetup === true ? (
        <p className="banner">
          No accounts exist yet. Open the setup link that the service printed on first start to create the
          operator account.
        </p>
      ) : null}
      {error === undefined ? null : (
        <FormError
          problem={
            new Error('Sign-in with the external account failed. Try again, or ask for an invitation.')
          }
        />
      )}
      <PasswordForm onCode={() => setStep('code')} />
      {service?.oidc.map(({ id, name }) => (
        <OidcButton key={id} id={id} name={name} next={next ?? '/'} />
      ))}
      <p>
        <Link to="/reset-password">Forgot your password?</Link>
      </p>
      {service?.signUp === 'open' ? (
        <p>
          Don’t have an account? <Link to="/sign-up">Sign up</Link>
        </p>
      ) : null}
    </AuthLayout>
  );
}

function PasswordForm({ onCode }: { onCode: () => void }) {
  const completeSignIn = useCompleteSignIn();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const { problem, isBusy, run } = useAttempt();

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    run(async () => {
      const { needsSecondFactor } = await signIn(email, password);
      if (needsSecondFactor) onCode();
      else await completeSignIn();
    });
  };

  return (
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
      <TextInput
        label="Password"
        name="password"
        type="password"
        autoComplete="current-password"
        value={password}
        onChange={setPassword}
        problem={problem}
      />
      <FormError problem={problem} />
      <Button kind="primary" type="submit" busy={isBusy}>
        Sign in
      </Button>
    </form>
  );
}

function OidcButton({ id, name, next }: { id: string; name: string; next: string }) {
  const { problem, isBusy, run } = useAttempt();
  return (
    <>
      <Button
        busy={isBusy}
        onClick={() => run(async () => window.location.assign(await startOidc(id, next)))}
      >
        Sign in with {name}
      </Button>
      <FormError problem={problem} />
    </>
  );
}

function SecondFactor() {
  const completeSignIn = useCompleteSignIn();
  const [code, setCode] = useState('');
  const [isBackup, setIsBackup] = useState(false);
  const [trusts, setTrusts] = useState(false);
  const { problem, isBusy, run } = useAttempt();

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    run(async () => {
      await (isBackup ? submitBackupCode(code.trim()) : submitTotp(code.replaceAll(/\s/g, ''), trusts));
      await completeSignIn();
    });
  };

  return (
    <AuthLayout title="Two-factor authentication">
      <form onSubmit={submit} className="stack">
        <Field
          label={isBackup ? 'Backup code' : 'Authentication code'}
          name="code"
          problem={problem}
          hint={
            isBackup
              ? 'One of your backup codes. Each works once.'
              : 'The six-digit code from your authenticator app.'
          }
        >
          {(field) => (
            <input
              {...field}
              key={String(isBackup)}
              className="input mono"
              required
              // biome-ignore lint/a11y/noAutofocus: the only field of the page
              autoFocus
              autoComplete="one-time-code"
              inputMode={isBackup ? 'text' : 'numeric'}
              value={code}
              onChange={(event) => setCode(event.target.value)}
            />
          )}
        </Field>
        {isBackup ? null : (
          <Checkbox checked={trusts} onChange={setTrusts}>
            Trust this browser
          </Checkbox>
        )}
        <FormError problem={problem} />
        <Button kind="primary" type="submit" busy={isBusy}>
          Continue{' '}
        </Button>
        <Button
          kind="quiet"
          onClick={() => {
            setIsBackup(!isBackup);
            setCode('');
          }}
        >
          {isBackup ? 'Use authenticator app' : 'Use a backup code'}
        </Button>
      </form>
    </AuthLayout>
  );
}

import { type FormEvent, useState } from 'react';
import { useAttempt } from '../../attempt.ts';
import { signUp } from '../../auth.ts';
import { Button } from '../../ui/button.tsx';
import { Fault } from '../../ui/field.tsx';
import { TextInput } from './text-input.tsx';

/** As the service has it: accountLimits of src/control/accounts/account-options.ts. It decides; this only helps. */
const PASSWORD_MIN = 10;

/** Name, address and password of a new user. */
export function SignUpForm({
  email: invited,
  invitation,
  onDone,
}: {
  /** The address that was invited; empty: any. */
  email: string;
  invitation?: string;
  onDone: () => Promise<void>;
}) {
  const [name, setName] = useState('');
  const [email, setEmail] = useState(invited);
  const [password, setPassword] = useState('');
  const { problem, isBusy, run } = useAttempt();

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    run(async () => {
      await signUp({
        name: name.trim(),
        email,
        password,
        ...(invitation === undefined ? {} : { invitation }),
      });
      await onDone();
    });
  };

  return (
    <form onSubmit={submit} className="stack">
      <TextInput
        label="Your name"
        name="name"
        autoComplete="name"
        value={name}
        onChange={setName}
        problem={problem}
      />
      <TextInput
        label="E-mail"
        name="email"
        type="email"
        autoComplete="username"
        value={email}
        onChange={setEmail}
        problem={problem}
        disabled={invited !== ''}
      />
      <TextInput
        label="Password"
        name="password"
        type="password"
        autoComplete="new-password"
        minLength={PASSWORD_MIN}
        hint={`At least ${PASSWORD_MIN} characters. A few words that belong to nobody else are good.`}
        value={password}
        onChange={setPassword}
        problem={problem}
      />
      <Fault problem={problem} />
      <Button kind="primary" type="submit" busy={isBusy}>
        Make the account
      </Button>
    </form>
  );
}

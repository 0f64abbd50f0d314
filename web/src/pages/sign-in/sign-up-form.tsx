import { type FormEvent, useState } from 'react';
import { useAttempt } from '../../attempt.ts';
import { signUp } from '../../auth.ts';
import { Button } from '../../ui/button.tsx';
import { FormError } from '../../ui/field.tsx';
import { checkPassword, passwordRule } from './password-rule.ts';
import { TextInput } from './text-input.tsx';

export function SignUpForm({
  email: invited,
  invitation,
  onDone,
}: {
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
      checkPassword(password, 'password');
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
        isFirst
        value={name}
        onChange={setName}
        problem={problem}
      />
      <TextInput
        label="Email"
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
        hint={`${passwordRule} A passphrase of several words works well.`}
        value={password}
        onChange={setPassword}
        problem={problem}
      />
      <FormError problem={problem} />
      <Button kind="primary" type="submit" busy={isBusy}>
        Create account
      </Button>
    </form>
  );
}

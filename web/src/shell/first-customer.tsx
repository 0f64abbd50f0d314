import { type FormEvent, useState } from 'react';
import { useChange } from '../queries.ts';
import { Button } from '../ui/button.tsx';
import { Field, FormError } from '../ui/field.tsx';
import { Mark } from '../ui/icon.tsx';
import { ModeBanner } from './mode-banner.tsx';

export function FirstCustomer({ canCreate }: { canCreate: boolean }) {
  const [name, setName] = useState('');
  const make = useChange('POST /customers');

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    make.mutate({ body: { name } });
  };

  return (
    <main className="alone">
      <div className="auth-card">
        <Mark size={36} />
        <ModeBanner />
        <h1>{canCreate ? 'Create a customer' : 'You are not a member of any customer'}</h1>
        {canCreate ? (
          <form onSubmit={submit} className="stack">
            <Field
              label="Customer name"
              name="name"
              problem={make.error}
              hint="Your company or team. API keys, quota, and members belong to it."
            >
              {(field) => (
                <input
                  {...field}
                  className="input"
                  required
                  maxLength={64}
                  value={name}
                  onChange={(event) => setName(event.target.value)}
                />
              )}
            </Field>
            <FormError problem={make.error} />
            <Button kind="primary" type="submit" busy={make.isPending}>
              Create customer{' '}
            </Button>
          </form>
        ) : (
          <p>Ask an owner or admin for an invitation link.</p>
        )}
      </div>
    </main>
  );
}

import { type FormEvent, useState } from 'react';
import type { KeyJson } from '../../../../src/control/api/contract/keys.ts';
import { useChange } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Field, FormError } from '../../ui/field.tsx';
import { useToast } from '../../ui/toast.tsx';
import { RulesFields } from '../keys/rules-fields.tsx';
import { rulesBody, rulesOf } from '../keys/rules-form.ts';

export function KeySettings({ target }: { target: KeyJson }) {
  const { customer } = useSession();
  const toast = useToast();
  const [name, setName] = useState(target.name);
  const [form, setForm] = useState(() => rulesOf(target));
  const change = useChange('PATCH /customers/{customer}/keys/{key}');

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const { expiresAt, ...rules } = rulesBody(form);
    // A rotating key expires with its grace period, not through this form.
    const body = { name, ...rules, ...(target.state === 'rotating' ? {} : { expiresAt }) };
    change.mutate(
      { path: { customer: customer.id, key: target.id }, body },
      { onSuccess: () => toast('Saved. Takes effect within a second.') },
    );
  };

  return (
    <form onSubmit={submit} className="stack form">
      <p className="muted">
        Changes take effect within a second, for this key and any version of it created by rotation.
      </p>
      <Field label="Name" name="name" problem={change.error}>
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
      <RulesFields
        form={form}
        onChange={(part) => setForm({ ...form, ...part })}
        product={target.product}
        isPublic={target.isPublic}
        problem={change.error}
      />
      <FormError problem={change.error} />
      <div>
        <Button kind="primary" type="submit" busy={change.isPending}>
          Save
        </Button>
      </div>
    </form>
  );
}

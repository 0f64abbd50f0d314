import { type FormEvent, useState } from 'react';
import { capitalized } from '../../format.ts';
import { PlanName } from '../../plan-name.tsx';
import { useChange } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Facts } from '../../ui/facts.tsx';
import { FormError } from '../../ui/field.tsx';
import { useToast } from '../../ui/toast.tsx';
import { TextInput } from '../sign-in/text-input.tsx';
import { roleNames } from '../team/role-descriptions.ts';
import { UsageLinks } from './usage-links.tsx';

export function CustomerSettings() {
  const { customer, can } = useSession();
  const toast = useToast();
  const [name, setName] = useState(customer.name);
  const change = useChange('PATCH /customers/{customer}');

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    change.mutate(
      { path: { customer: customer.id }, body: { name: name.trim() } },
      { onSuccess: () => toast('Saved.') },
    );
  };
  return (
    <div className="stack form">
      <Facts
        facts={[
          [
            'Customer ID',
            <span key="id" className="row row-close">
              <code>{customer.id}</code>
              <CopyButton compact size="s" text={customer.id} label="Copy customer ID" />
            </span>,
          ],
          ['Plan', <PlanName key="plan" id={customer.planId} />],
          ['Status', capitalized(customer.state)],
          ['Your role', roleNames[customer.role]],
        ]}
      />
      {can('admin') ? (
        <form onSubmit={submit} className="stack">
          <TextInput label="Name" name="name" value={name} onChange={setName} problem={change.error} />
          <FormError problem={change.error} />
          <div>
            <Button
              type="submit"
              busy={change.isPending}
              disabled={name.trim() === '' || name === customer.name}
            >
              Save
            </Button>
          </div>
        </form>
      ) : null}
      {can('admin') ? <UsageLinks /> : null}
    </div>
  );
}

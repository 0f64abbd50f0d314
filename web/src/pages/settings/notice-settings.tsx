import { type FormEvent, useState } from 'react';
import { useCall, useChange } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Field, FormError } from '../../ui/field.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Choice } from '../../ui/tabs.tsx';
import { useToast } from '../../ui/toast.tsx';
import { SigningSecret } from './signing-secret.tsx';
import { type Target, type TargetActions, TargetTable, targetNouns } from './target-table.tsx';

export function NoticeSettings() {
  const { customer, can, service } = useSession();
  const notices = useCall('GET /customers/{customer}/notices', { path: { customer: customer.id } });
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <div className="stack">
      <p className="muted">
        Notifications are sent when usage reaches 80%, 95%, and 100% of your quota, once per threshold each
        month.
      </p>
      <FormError problem={notices.error} />
      {notices.data === undefined ? (
        notices.error === null && <Skeleton />
      ) : (
        <TargetTable targets={notices.data.targets} useActions={can('admin') ? useNoticeActions : null} />
      )}
      {can('admin') ? <AddTarget hasMail={service.mail} onSecret={setSecret} /> : null}
      {secret === null ? null : <SigningSecret secret={secret} onClose={() => setSecret(null)} />}
    </div>
  );
}

function useNoticeActions({ id }: Target): TargetActions {
  const { customer } = useSession();
  const test = useChange('POST /customers/{customer}/notices/{notice}/test');
  const remove = useChange('DELETE /customers/{customer}/notices/{notice}');
  const path = { customer: customer.id, notice: id };
  return {
    isTesting: test.isPending,
    isRemoving: remove.isPending,
    test: (callbacks) => test.mutate({ path }, callbacks),
    remove: (callbacks) => remove.mutate({ path }, callbacks),
  };
}

const kinds = [
  { value: 'webhook', label: 'Webhook' },
  { value: 'email', label: 'Email' },
] as const;

function AddTarget({ hasMail, onSecret }: { hasMail: boolean; onSecret: (secret: string) => void }) {
  const { customer } = useSession();
  const toast = useToast();
  const [kind, setKind] = useState<'webhook' | 'email'>('webhook');
  const [to, setTo] = useState('');
  const add = useChange('POST /customers/{customer}/notices');

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    add.mutate(
      { path: { customer: customer.id }, body: { kind, to: to.trim() } },
      {
        onSuccess: ({ secret }) => {
          setTo('');
          if (secret === null) toast(`${targetNouns[kind]} added.`);
          else onSecret(secret);
        },
      },
    );
  };
  return (
    <form onSubmit={submit} className="stack form">
      {hasMail ? <Choice label="Channel" options={kinds} value={kind} onChange={setKind} /> : null}
      <Field label={kind === 'webhook' ? 'Webhook URL' : 'Email'} name="to" problem={add.error}>
        {(field) => (
          <input
            {...field}
            className="input"
            type={kind === 'webhook' ? 'url' : 'email'}
            required
            placeholder={kind === 'webhook' ? 'https://' : ''}
            value={to}
            onChange={(event) => setTo(event.target.value)}
          />
        )}
      </Field>
      <FormError problem={add.error} />
      <div>
        <Button type="submit" busy={add.isPending}>
          Add {targetNouns[kind].toLowerCase()}
        </Button>
      </div>
    </form>
  );
}

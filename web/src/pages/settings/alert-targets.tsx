import { type FormEvent, useState } from 'react';
import { useChange } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Field, FormError } from '../../ui/field.tsx';
import { Choice } from '../../ui/tabs.tsx';
import { useToast } from '../../ui/toast.tsx';
import { SigningSecret } from './signing-secret.tsx';
import { type Target, type TargetActions, TargetTable, targetNouns } from './target-table.tsx';

export const AlertTargets = ({ targets }: { targets: readonly Target[] }) => (
  <TargetTable targets={targets} useActions={useAlertActions} />
);

function useAlertActions({ id }: Target): TargetActions {
  const test = useChange('POST /alerts/targets/{target}/test');
  const remove = useChange('DELETE /alerts/targets/{target}');
  const path = { target: id };
  return {
    isTesting: test.isPending,
    isRemoving: remove.isPending,
    test: (callbacks) => test.mutate({ path }, callbacks),
    remove: (callbacks) => remove.mutate({ path }, callbacks),
  };
}

type Kind = Target['kind'];

const kinds: readonly Readonly<{ value: Kind; label: string }>[] = [
  { value: 'webhook', label: 'Webhook' },
  { value: 'slack', label: 'Slack' },
  { value: 'pagerduty', label: 'PagerDuty' },
  { value: 'email', label: 'Email' },
];

const fields = {
  webhook: { label: 'Webhook URL', hint: undefined },
  slack: { label: 'Incoming webhook URL', hint: 'From your Slack app, under Incoming Webhooks.' },
  pagerduty: { label: 'Integration key', hint: 'From a PagerDuty integration of type Events API v2.' },
  email: { label: 'Email', hint: undefined },
} as const;

export function AddAlertTarget() {
  const { service } = useSession();
  const toast = useToast();
  const [kind, setKind] = useState<Kind>('webhook');
  const [to, setTo] = useState('');
  const [secret, setSecret] = useState<string | null>(null);
  const add = useChange('POST /alerts/targets');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const text = to.trim();
    add.mutate(
      { body: kind === 'pagerduty' ? { kind, routingKey: text } : { kind, to: text } },
      {
        onSuccess: ({ secret: signing }) => {
          setTo('');
          if (signing === null) toast(`${targetNouns[kind]} added.`);
          else setSecret(signing);
        },
      },
    );
  };
  const isUrl = kind === 'webhook' || kind === 'slack';
  return (
    <form onSubmit={submit} className="stack form">
      <Choice
        label="Channel"
        options={kinds.filter(({ value }) => value !== 'email' || service.mail)}
        value={kind}
        onChange={setKind}
      />
      <Field {...fields[kind]} name={kind === 'pagerduty' ? 'routingKey' : 'to'} problem={add.error}>
        {(field) => (
          <input
            {...field}
            className="input"
            type={isUrl ? 'url' : kind === 'email' ? 'email' : 'text'}
            autoComplete="off"
            required
            placeholder={isUrl ? 'https://' : ''}
            value={to}
            onChange={(event) => setTo(event.target.value)}
          />
        )}
      </Field>
      <FormError problem={add.error} />
      <div>
        <Button type="submit" busy={add.isPending}>
          Add recipient
        </Button>
      </div>
      {secret === null ? null : <SigningSecret secret={secret} onClose={() => setSecret(null)} />}
    </form>
  );
}

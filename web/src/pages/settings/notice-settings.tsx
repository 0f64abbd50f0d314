import { type FormEvent, useState } from 'react';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { messageOf } from '../../api.ts';
import { useCall, useChange } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Chip } from '../../ui/chip.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Field, FormError } from '../../ui/field.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { Table } from '../../ui/table.tsx';
import { Choice } from '../../ui/tabs.tsx';
import { Ago } from '../../ui/time.tsx';
import { useToast } from '../../ui/toast.tsx';

type Target = RouteOutput<'GET /customers/{customer}/notices'>['targets'][number];

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
        <Targets targets={notices.data.targets} canChange={can('admin')} />
      )}
      {can('admin') ? <AddTarget hasMail={service.mail} onSecret={setSecret} /> : null}
      {secret === null ? null : (
        <Dialog title="Webhook signing secret" onClose={() => setSecret(null)}>
          <div className="stack">
            <p>Use this secret to verify webhook signatures. It will not be shown again.</p>
            <Snippet text={secret} label="signing secret" />
            <DialogActions>
              <Button kind="primary" onClick={() => setSecret(null)}>
                Done
              </Button>
            </DialogActions>
          </div>
        </Dialog>
      )}
    </div>
  );
}

function Targets({ targets, canChange }: { targets: readonly Target[]; canChange: boolean }) {
  return (
    <Table
      caption="Recipients"
      rows={targets}
      rowKey={({ id }) => id}
      empty={<EmptyState title="No recipients yet">{canChange ? 'Add one below.' : undefined}</EmptyState>}
      columns={[
        {
          id: 'to',
          title: 'Recipient',
          sortBy: ({ to }) => to,
          cell: ({ to, kind }) => (
            <>
              <span className="break">{to}</span>
              <span className="table-second">{kind === 'email' ? 'email' : 'webhook'}</span>
            </>
          ),
        },
        {
          id: 'last',
          title: 'Last sent',
          sortBy: ({ lastSentAt }) => lastSentAt,
          cell: ({ lastSentAt, lastProblem }) => (
            <>
              {lastSentAt === null ? <span className="muted">Never</span> : <Ago at={lastSentAt} />}
              {lastProblem === null ? null : (
                <span className="table-second">
                  <Chip tone="bad">failed</Chip> {lastProblem}
                </span>
              )}
            </>
          ),
        },
        ...(canChange
          ? [
              {
                id: 'do',
                title: 'Actions',
                hideTitle: true,
                align: 'end' as const,
                cell: (target: Target) => <TargetButtons target={target} />,
              },
            ]
          : []),
      ]}
    />
  );
}

function TargetButtons({ target }: { target: Target }) {
  const { customer } = useSession();
  const toast = useToast();
  const test = useChange('POST /customers/{customer}/notices/{notice}/test');
  const remove = useChange('DELETE /customers/{customer}/notices/{notice}');
  const path = { customer: customer.id, notice: target.id };
  const onError = (problem: Error): void => toast(messageOf(problem), 'bad');
  return (
    <>
      <Button
        size="s"
        busy={test.isPending}
        onClick={() =>
          test.mutate(
            { path },
            {
              onSuccess: ({ delivered, problem }) =>
                delivered
                  ? toast('Test notification delivered.')
                  : toast(`Delivery failed. ${problem ?? 'The reason is unknown.'}`, 'bad'),
              onError,
            },
          )
        }
      >
        Send test<span className="visually-hidden"> {target.to}</span>
      </Button>{' '}
      <Button
        size="s"
        kind="quiet"
        busy={remove.isPending}
        onClick={() =>
          remove.mutate({ path }, { onSuccess: () => toast(`${nouns[target.kind]} removed.`), onError })
        }
      >
        Remove<span className="visually-hidden"> {target.to}</span>
      </Button>
    </>
  );
}

const nouns = { webhook: 'Webhook', email: 'Email address' } as const;

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
          if (secret === null) toast(`${nouns[kind]} added.`);
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
          Add {nouns[kind].toLowerCase()}
        </Button>
      </div>
    </form>
  );
}

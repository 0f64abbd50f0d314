import { type FormEvent, useState } from 'react';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { useCall, useChange } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { FormError } from '../../ui/field.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Pending } from '../../ui/pending.tsx';
import { SelectField } from '../../ui/select-field.tsx';
import { ShownOnceDialog } from '../../ui/shown-once-dialog.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { actorOf } from '../audit/audit-entry.ts';
import { TextInput } from '../sign-in/text-input.tsx';

type UsageLink = RouteOutput<'GET /customers/{customer}/usage-links'>['links'][number];

export function UsageLinks() {
  const { customer } = useSession();
  const links = useCall('GET /customers/{customer}/usage-links', { path: { customer: customer.id } });
  const [url, setUrl] = useState<string | null>(null);
  const [revoking, setRevoking] = useState<UsageLink | null>(null);
  return (
    <Panel
      title="Usage links"
      note="Anyone with a link can view this month’s usage and quota without an account."
    >
      <div className="stack">
        <Pending query={links} height="s">
          {(data) => <LinkTable links={data.links} onRevoke={setRevoking} />}
        </Pending>
        <CreateLink onCreated={setUrl} />
      </div>
      {url === null ? null : (
        <ShownOnceDialog title="Usage link" secret={url} label="link" onClose={() => setUrl(null)}>
          Copy this link now. It will not be shown again.
        </ShownOnceDialog>
      )}
      {revoking === null ? null : <RevokeLink link={revoking} onClose={() => setRevoking(null)} />}
    </Panel>
  );
}

const LinkTable = ({
  links,
  onRevoke,
}: {
  links: readonly UsageLink[];
  onRevoke: (link: UsageLink) => void;
}) => (
  <Table
    caption="Usage links"
    rows={links}
    rowKey={({ id }) => id}
    empty={<p className="muted">No usage links.</p>}
    columns={[
      {
        id: 'name',
        title: 'Name',
        sortBy: ({ name }) => name,
        cell: ({ name, createdBy }) => (
          <>
            {name}
            <span className="table-second">{actorOf(createdBy).name}</span>
          </>
        ),
      },
      {
        id: 'expires',
        title: 'Expires',
        sortBy: ({ expiresAt }) => expiresAt,
        cell: ({ expiresAt }) => <Time at={expiresAt} />,
      },
      {
        id: 'revoke',
        title: 'Revoke',
        hideTitle: true,
        align: 'end',
        cell: (link) => (
          <Button size="s" kind="quiet" onClick={() => onRevoke(link)}>
            Revoke<span className="visually-hidden"> link {link.name}</span>
          </Button>
        ),
      },
    ]}
  />
);

const lifetimes = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', '1 year'],
] as const;

function CreateLink({ onCreated }: { onCreated: (url: string) => void }) {
  const { customer } = useSession();
  const [name, setName] = useState('');
  const [days, setDays] = useState('90');
  const create = useChange('POST /customers/{customer}/usage-links');

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate(
      { path: { customer: customer.id }, body: { name: name.trim(), days: Number(days) } },
      {
        onSuccess: ({ url }) => {
          setName('');
          onCreated(url);
        },
      },
    );
  };
  return (
    <form onSubmit={submit} className="stack">
      <div className="fields-row">
        <TextInput label="Link name" name="name" value={name} onChange={setName} problem={create.error} />
        <SelectField<string>
          label="Expiration"
          name="days"
          value={days}
          options={lifetimes}
          onChange={setDays}
          problem={create.error}
        />
      </div>
      <FormError problem={create.error} />
      <div>
        <Button type="submit" busy={create.isPending}>
          Create link
        </Button>
      </div>
    </form>
  );
}

function RevokeLink({ link: { id, name }, onClose }: { link: UsageLink; onClose: () => void }) {
  const { customer } = useSession();
  const revoke = useChange('DELETE /customers/{customer}/usage-links/{link}');
  return (
    <ConfirmDialog
      title={`Revoke link “${name}”?`}
      action="Revoke"
      problem={revoke.error}
      isBusy={revoke.isPending}
      onClose={onClose}
      onConfirm={() => revoke.mutate({ path: { customer: customer.id, link: id } }, { onSuccess: onClose })}
    >
      The link stops working immediately.
    </ConfirmDialog>
  );
}

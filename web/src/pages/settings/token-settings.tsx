import { type FormEvent, useState } from 'react';
import type { MemberRole } from '../../../../src/control/accounts/roles.ts';
import { useCall, useChange } from '../../queries.ts';
import { roleAllows, useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { FormError } from '../../ui/field.tsx';
import { SelectField } from '../../ui/select-field.tsx';
import { ShownOnceDialog } from '../../ui/shown-once-dialog.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Table } from '../../ui/table.tsx';
import { Ago, Time } from '../../ui/time.tsx';
import { actorOf } from '../audit/audit-entry.ts';
import { TextInput } from '../sign-in/text-input.tsx';
import { roleNames, roles } from '../team/role-descriptions.ts';
import { RevokeToken, type Token } from './revoke-token.tsx';

export function CustomerTokens() {
  const { customer } = useSession();
  const tokens = useCall('GET /customers/{customer}/tokens', { path: { customer: customer.id } });
  const create = useChange('POST /customers/{customer}/tokens');
  const end = useChange('DELETE /customers/{customer}/tokens/{token}');
  return (
    <Tokens
      note={`Control API tokens for “${customer.name}” only.`}
      tokens={tokens.data?.tokens}
      problem={tokens.error ?? create.error}
      isBusy={create.isPending}
      withRole
      onCreate={async ({ name, role, expiresAt }) =>
        (await create.mutateAsync({ path: { customer: customer.id }, body: { name, role, expiresAt } }))
          .secret
      }
      onEnd={async (token, withMade) => {
        await end.mutateAsync({ path: { customer: customer.id, token }, query: queryOf(withMade) });
      }}
    />
  );
}

export function OperatorTokens() {
  const tokens = useCall('GET /tokens', {});
  const create = useChange('POST /tokens');
  const end = useChange('DELETE /tokens/{token}');
  return (
    <Tokens
      note="Access tokens for the control API with full operator access."
      tokens={tokens.data?.tokens}
      problem={tokens.error ?? create.error}
      isBusy={create.isPending}
      onCreate={async ({ name, expiresAt }) =>
        (await create.mutateAsync({ body: { name, expiresAt } })).secret
      }
      onEnd={async (token, withMade) => {
        await end.mutateAsync({ path: { token }, query: queryOf(withMade) });
      }}
    />
  );
}

const queryOf = (withMade: boolean) => (withMade ? { withMade: 'true' as const } : {});

type NewToken = Readonly<{ name: string; role: MemberRole; expiresAt: number | null }>;

function Tokens({
  note,
  tokens,
  problem,
  isBusy,
  withRole = false,
  onCreate,
  onEnd,
}: {
  note: string;
  tokens: readonly Token[] | undefined;
  problem: unknown;
  isBusy: boolean;
  withRole?: boolean;
  onCreate: (token: NewToken) => Promise<string>;
  onEnd: (id: string, withMade: boolean) => Promise<void>;
}) {
  const [secret, setSecret] = useState<string | null>(null);
  const [ending, setEnding] = useState<Token | null>(null);
  return (
    <div className="stack">
      <p className="muted">{note}</p>
      {tokens === undefined ? (
        problem === null && <Skeleton />
      ) : (
        <TokenTable tokens={tokens} withRole={withRole} onEnd={setEnding} />
      )}
      <CreateToken
        withRole={withRole}
        isBusy={isBusy}
        problem={problem}
        onCreate={async (token) => setSecret(await onCreate(token))}
      />
      {secret === null ? null : (
        <TokenSecret
          title={withRole ? 'API token' : 'Operator token'}
          secret={secret}
          onClose={() => setSecret(null)}
        />
      )}
      {ending === null ? null : (
        <RevokeToken
          token={ending}
          onEnd={(withMade) => onEnd(ending.id, withMade)}
          onClose={() => setEnding(null)}
        />
      )}
    </div>
  );
}

const TokenTable = ({
  tokens,
  withRole,
  onEnd,
}: {
  tokens: readonly Token[];
  withRole: boolean;
  onEnd: (token: Token) => void;
}) => (
  <Table
    caption="Tokens"
    rows={tokens}
    rowKey={({ id }) => id}
    empty={
      <EmptyState
        title="No tokens yet"
        snippet={`curl ${window.location.origin}/api/v1/me -H 'Authorization: Bearer <TOKEN>'`}
      >
        {withRole ? 'A token has the permissions of its role.' : 'Operator tokens have full access.'}
      </EmptyState>
    }
    columns={[
      {
        id: 'name',
        title: 'Name',
        sortBy: ({ name }) => name,
        cell: ({ name, start }) => (
          <>
            <strong>{name}</strong>
            <span className="table-second mono">{start}…</span>
          </>
        ),
      },
      ...(withRole
        ? [
            {
              id: 'role',
              title: 'Role',
              sortBy: ({ role }: Token) => role,
              cell: ({ role }: Token) => roleNames[role],
            },
          ]
        : []),
      {
        id: 'used',
        title: 'Last used',
        sortBy: ({ lastUsedAt }) => lastUsedAt,
        cell: ({ lastUsedAt }) =>
          lastUsedAt === null ? <span className="muted">Never</span> : <Ago at={lastUsedAt} />,
      },
      {
        id: 'made',
        title: 'Created',
        wideOnly: true,
        sortBy: ({ createdAt }) => createdAt,
        cell: ({ createdAt, createdBy }) => (
          <>
            <Ago at={createdAt} />
            <span className="table-second">{actorOf(createdBy).name}</span>
          </>
        ),
      },
      {
        id: 'expires',
        title: 'Expires',
        wideOnly: true,
        sortBy: ({ expiresAt }) => expiresAt,
        cell: ({ expiresAt }) =>
          expiresAt === null ? <span className="muted">Never</span> : <Time at={expiresAt} />,
      },
      {
        id: 'end',
        title: 'Revoke',
        hideTitle: true,
        align: 'end',
        cell: (token) => (
          <Button size="s" kind="quiet" onClick={() => onEnd(token)}>
            Revoke<span className="visually-hidden"> token {token.name}</span>
          </Button>
        ),
      },
    ]}
  />
);

const DAY_MS = 86_400_000;
const lifetimes = [
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', '1 year'],
  ['', 'No expiration'],
] as const;

function CreateToken({
  withRole,
  isBusy,
  problem,
  onCreate,
}: {
  withRole: boolean;
  isBusy: boolean;
  problem: unknown;
  onCreate: (token: NewToken) => Promise<void>;
}) {
  const { customer, user } = useSession();
  const [name, setName] = useState('');
  const [role, setRole] = useState<MemberRole>('developer');
  const [days, setDays] = useState('90');

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const expiresAt = days === '' ? null : Date.now() + Number(days) * DAY_MS;
    onCreate({ name: name.trim(), role, expiresAt }).then(
      () => setName(''),
      () => {},
    );
  };
  return (
    <form onSubmit={submit} className="stack form">
      <div className="fields-row">
        <TextInput label="Name" name="name" value={name} onChange={setName} problem={problem} />
        {withRole ? (
          <SelectField<MemberRole>
            label="Role"
            name="role"
            value={role}
            options={roles
              .filter((one) => user.isOperator || roleAllows(customer.role, one.role))
              .map((one) => [one.role, roleNames[one.role]])}
            onChange={setRole}
            problem={problem}
          />
        ) : null}
        <SelectField<string>
          label="Expiration"
          name="expiresAt"
          value={days}
          options={lifetimes}
          onChange={setDays}
          problem={problem}
        />
      </div>
      <FormError problem={problem} />
      <div>
        <Button type="submit" busy={isBusy}>
          Create token
        </Button>
      </div>
    </form>
  );
}

const TokenSecret = ({ title, secret, onClose }: { title: string; secret: string; onClose: () => void }) => (
  <ShownOnceDialog title={title} secret={secret} label="token" onClose={onClose}>
    Copy this token now. It will not be shown again.
  </ShownOnceDialog>
);

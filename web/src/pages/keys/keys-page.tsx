import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { formatCount, formatShare } from '../../format.ts';
import { type Product, productNames } from '../../product-names.ts';
import { useCall } from '../../queries.ts';
import { Page } from '../../shell/page.tsx';
import { useSession } from '../../shell/session.tsx';
import { firstCall } from '../../snippets.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Checkbox, FormError } from '../../ui/field.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Sparkline } from '../../ui/sparkline.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Ago, Time } from '../../ui/time.tsx';
import { KeyChips, KeyMenu, Overlap } from './key-cells.tsx';
import { type KeyCommands, useKeyCommands } from './key-dialogs.tsx';
import type { KeyStatus } from './key-labels.ts';
import './keys.css';

type KeyRow = RouteOutput<'GET /customers/{customer}/keys'>['items'][number];

/** API keys loaded at once; the page states when there are more. */
const KEYS_MAX = 1_000;
const REFETCH_MS = 5_000;

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

export function KeysPage() {
  const { customer, can } = useSession();
  const [withRevoked, setWithRevoked] = useState(false);
  const [product, setProduct] = useState<Product | ''>('');
  const [state, setState] = useState<KeyStatus | ''>('');
  const [search, setSearch] = useState('');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const commands = useKeyCommands(() => setChosen(new Set()));
  const keys = useCall(
    'GET /customers/{customer}/keys',
    {
      path: { customer: customer.id },
      query: { limit: KEYS_MAX, withRevoked: String(withRevoked || state === 'revoked') },
    },
    { refetchMs: REFETCH_MS, keepPrevious: true },
  );
  const rows = useMemo(
    () =>
      (keys.data?.items ?? []).filter(
        (row) =>
          (product === '' || row.product === product) &&
          (state === '' || row.state === state) &&
          `${row.name} ${row.start}`.toLowerCase().includes(search.toLowerCase()),
      ),
    [keys.data, product, state, search],
  );
  const columns = useColumns(commands, can('developer'));
  const targets = rows.filter(({ id }) => chosen.has(id));

  return (
    <Page
      title="API keys"
      question="Create and manage API keys."
      updatedAt={keys.dataUpdatedAt}
      actions={
        can('developer') ? (
          <Button kind="primary" icon="plus" onClick={commands.create}>
            Create key
          </Button>
        ) : null
      }
    >
      <div className="row-apart">
        <div className="row">
          <input
            className="input filter-search"
            type="search"
            aria-label="Search by name or prefix"
            placeholder="Name or prefix"
            value={search}
            onChange={(event) => setSearch(event.target.value)}
          />
          <FilterSelect
            label="Product"
            all="All products"
            value={product}
            options={productNames}
            onChange={(value) => setProduct(value)}
          />
          <FilterSelect
            label="Status"
            all="All statuses"
            value={state}
            options={stateNames}
            onChange={(value) => setState(value)}
          />
          <Checkbox checked={withRevoked} onChange={setWithRevoked}>
            Show revoked
          </Checkbox>
        </div>
        {targets.length === 0 ? null : (
          <Button kind="danger" onClick={() => commands.revoke(targets)}>
            Revoke {targets.length} selected
          </Button>
        )}
      </div>
      <FormError problem={keys.error} />
      {keys.data === undefined ? (
        keys.error === null && <Skeleton height="l" />
      ) : (
        <Table
          caption="API keys"
          columns={columns}
          rows={rows}
          rowKey={({ id }) => id}
          initialSort={{ column: 'created', down: true }}
          csvName="solway-keys"
          empty={
            <NoKeys
              hasAny={keys.data.items.length > 0}
              hasMore={keys.data.next !== null}
              onCreate={commands.create}
            />
          }
          {...(can('developer')
            ? {
                selection: {
                  chosen,
                  onChange: setChosen,
                  rowName: ({ name }: KeyRow) => name,
                  canChoose: (row: KeyRow) => row.state !== 'revoked',
                },
              }
            : {})}
        />
      )}
      {keys.data?.next == null ? null : (
        <p className="muted">
          Only the first {formatCount(KEYS_MAX)} API keys are shown and searched. Use the control API to list
          all of them.
        </p>
      )}
      {commands.dialog}
    </Page>
  );
}

const stateNames: Readonly<Record<KeyStatus, string>> = {
  active: 'Active',
  rotating: 'Rotating',
  disabled: 'Disabled',
  expired: 'Expired',
  revoked: 'Revoked',
};

function FilterSelect<Value extends string>({
  label,
  all,
  value,
  options,
  onChange,
}: {
  label: string;
  all: string;
  value: Value | '';
  options: Readonly<Record<Value, string>>;
  onChange: (value: Value | '') => void;
}) {
  return (
    <select
      className="select"
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.target.value as Value | '')}
    >
      <option value="">{all}</option>
      {(Object.entries(options) as [Value, string][]).map(([id, name]) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}

function NoKeys({ hasAny, hasMore, onCreate }: { hasAny: boolean; hasMore: boolean; onCreate: () => void }) {
  const { service, can } = useSession();
  if (hasMore)
    return <EmptyState title={`None of the first ${formatCount(KEYS_MAX)} API keys matches the filters`} />;
  if (hasAny) return <EmptyState title="No API keys match the filters" />;
  return (
    <EmptyState
      title="No API keys yet"
      snippet={firstCall(service.urls)}
      action={
        can('developer') ? (
          <Button kind="primary" icon="plus" onClick={onCreate}>
            Create key
          </Button>
        ) : null
      }
    >
      Every request needs an API key. Create one, use it in the command below, and see the request on Home.
    </EmptyState>
  );
}

function useColumns(commands: KeyCommands, canChange: boolean): readonly Column<KeyRow>[] {
  const navigate = useNavigate();
  return [
    {
      id: 'name',
      title: 'API key',
      sortBy: ({ name }) => name,
      csv: ({ name }) => name,
      cell: (row) => (
        <span className="key-name">
          <Link to="/keys/$key" params={{ key: row.id }}>
            {row.name}
          </Link>
          <span className="mono muted">{row.start}…</span>
        </span>
      ),
    },
    {
      id: 'product',
      title: 'Product',
      sortBy: ({ product }) => product,
      csv: ({ product }) => product,
      cell: ({ product }) => productNames[product],
    },
    {
      id: 'state',
      title: 'Status',
      sortBy: ({ state }) => state,
      csv: ({ state }) => state,
      cell: (row) => (
        <>
          <KeyChips item={row} />
          {canChange ? <Overlap item={row} onCut={() => commands.cut(row)} /> : null}
        </>
      ),
    },
    {
      id: 'rate',
      title: 'Rate limit',
      align: 'end',
      wideOnly: true,
      sortBy: ({ rate }) => rate?.perSecond ?? null,
      csv: ({ rate }) => rate?.perSecond ?? null,
      cell: ({ rate, planId }) =>
        rate === null ? <span className="muted">Plan: {planId}</span> : `${formatCount(rate.perSecond)}/s`,
    },
    {
      id: 'credits',
      title: 'Credits this month',
      align: 'end',
      sortBy: ({ creditsUsed }) => creditsUsed,
      csv: ({ creditsUsed }) => creditsUsed,
      cell: ({ creditsUsed }) => formatCount(creditsUsed),
    },
    ...activityColumns,
    ...(canChange
      ? [
          {
            id: 'menu',
            title: 'Actions',
            hideTitle: true,
            align: 'end' as const,
            cell: (row: KeyRow) => (
              <KeyMenu
                item={row}
                commands={commands}
                onOpen={() => void navigate({ to: '/keys/$key', params: { key: row.id } })}
              />
            ),
          },
        ]
      : []),
  ];
}

const ErrorShare = ({ errors, all }: { errors: number; all: number }) =>
  all === 0 ? null : <span className="table-second">{formatShare(errors / all)} failed</span>;

const activityColumns: readonly Column<KeyRow>[] = [
  {
    id: 'requests',
    title: 'Requests (24 h)',
    align: 'end',
    sortBy: ({ requests24h }) => sum(requests24h),
    csv: ({ requests24h }) => sum(requests24h),
    cell: ({ requests24h, errors24h }) => (
      <span className="key-traffic">
        <Sparkline values={requests24h} />
        <span>
          {formatCount(sum(requests24h))}
          <ErrorShare errors={errors24h} all={sum(requests24h)} />
        </span>
      </span>
    ),
  },
  {
    id: 'used',
    title: 'Last used',
    wideOnly: true,
    sortBy: ({ lastUsedAt }) => lastUsedAt,
    csv: ({ lastUsedAt }) => (lastUsedAt === null ? null : new Date(lastUsedAt).toISOString()),
    cell: ({ lastUsedAt, lastUsedFrom }) =>
      lastUsedAt === null ? (
        <span className="muted">Never</span>
      ) : (
        <span className="key-used">
          <Ago at={lastUsedAt} />
          <span className="muted mono">{lastUsedFrom}</span>
        </span>
      ),
  },
  {
    id: 'created',
    title: 'Created',
    wideOnly: true,
    sortBy: ({ createdAt }) => createdAt,
    csv: ({ createdAt }) => new Date(createdAt).toISOString(),
    cell: ({ createdAt, expiresAt }) => (
      <>
        <Ago at={createdAt} />
        {expiresAt === null ? null : (
          <span className="table-second">
            {expiresAt > Date.now() ? 'expires' : 'expired'} <Time at={expiresAt} />
          </span>
        )}
      </>
    ),
  },
];

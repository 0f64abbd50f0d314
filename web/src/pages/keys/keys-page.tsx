import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { formatCount, formatShare } from '../../format.ts';
import { useKeySearch } from '../../key-id.ts';
import { usePager } from '../../pager.ts';
import { PlanName } from '../../plan-name.tsx';
import { type Product, productNames } from '../../product-names.ts';
import { useCall } from '../../queries.ts';
import { Page } from '../../shell/page.tsx';
import { useSession } from '../../shell/session.tsx';
import { firstCall } from '../../snippets.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Checkbox, FormError } from '../../ui/field.tsx';
import { PagerButtons } from '../../ui/pager-buttons.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Sparkline } from '../../ui/sparkline.tsx';
import { type Column, orderText, type Sort, type SortOrder, Table } from '../../ui/table.tsx';
import { Ago, Time } from '../../ui/time.tsx';
import { KeyChips, KeyMenu, Overlap } from './key-cells.tsx';
import { type KeyCommands, useKeyCommands } from './key-dialogs.tsx';
import type { KeyStatus } from './key-labels.ts';
import './keys.css';

type KeyRow = RouteOutput<'GET /customers/{customer}/keys'>['items'][number];

const PAGE_KEYS = 100;
const sortable = ['name', 'createdAt', 'lastUsedAt'] as const;
type Order = SortOrder<(typeof sortable)[number]>;
const REFETCH_MS = 5_000;

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

export function KeysPage() {
  const { customer, can } = useSession();
  const [withRevoked, setWithRevoked] = useState(false);
  const [product, setProduct] = useState<Product | ''>('');
  const [state, setState] = useState<KeyStatus | ''>('');
  const [text, setText] = useState('');
  const search = useKeySearch(text);
  const [sort, setSort] = useState<Sort>({ column: 'createdAt', down: true });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const commands = useKeyCommands(() => setChosen(new Set()));
  const query = {
    withRevoked: String(withRevoked),
    sort: orderText(sort) as Order,
    ...(product === '' ? {} : { product }),
    ...(state === '' ? {} : { state }),
    ...(search === '' ? {} : { search }),
  };
  const pager = usePager(JSON.stringify(query));
  const keys = useCall(
    'GET /customers/{customer}/keys',
    { path: { customer: customer.id }, query: { ...query, limit: PAGE_KEYS, cursor: pager.cursor } },
    { refetchMs: REFETCH_MS, keepPrevious: true },
  );
  const rows = keys.data?.items ?? [];
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
            maxLength={64}
            value={text}
            onChange={(event) => setText(event.target.value)}
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
          order={{ sort, columns: sortable, onSort: setSort }}
          csvName="solway-keys"
          isStacked
          empty={
            <NoKeys isFiltered={product !== '' || state !== '' || search !== ''} onCreate={commands.create} />
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
      <PagerButtons pager={pager} next={keys.data?.next ?? null} />
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

function NoKeys({ isFiltered, onCreate }: { isFiltered: boolean; onCreate: () => void }) {
  const { service, can } = useSession();
  if (isFiltered) return <EmptyState title="No API keys match the filters" />;
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
      csv: ({ product }) => product,
      cell: ({ product }) => productNames[product],
    },
    {
      id: 'state',
      title: 'Status',
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
      csv: ({ rate }) => rate?.perSecond ?? null,
      cell: ({ rate, planId }) =>
        rate === null ? (
          <span className="muted">
            Plan: <PlanName id={planId} />
          </span>
        ) : (
          `${formatCount(rate.perSecond)}/s`
        ),
    },
    {
      id: 'credits',
      title: 'Credits this month',
      align: 'end',
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
    id: 'lastUsedAt',
    title: 'Last used',
    wideOnly: true,
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
    id: 'createdAt',
    title: 'Created',
    wideOnly: true,
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

import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { DEFAULT_CUSTOMER_ID } from '../../default-tenant.ts';
import { formatCount } from '../../format.ts';
import { useDebounced, usePager } from '../../pager.ts';
import { useCall, useChange } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Chip } from '../../ui/chip.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { FormError } from '../../ui/field.tsx';
import { PagerButtons } from '../../ui/pager-buttons.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { orderText, type Sort, type SortOrder, Table } from '../../ui/table.tsx';
import { Ago } from '../../ui/time.tsx';
import { useChangeToasts, useToast } from '../../ui/toast.tsx';
import { TextInput } from '../sign-in/text-input.tsx';
import { PlanDialog, useUndoPlan } from './plan-dialog.tsx';

type Row = RouteOutput<'GET /customers'>['items'][number];

const PAGE_CUSTOMERS = 100;
const sortable = ['name', 'createdAt'] as const;
type Order = SortOrder<(typeof sortable)[number]>;

export function OperatorCustomers() {
  const [text, setText] = useState('');
  const search = useDebounced(text.trim());
  const [sort, setSort] = useState<Sort>({ column: 'name', down: false });
  const [suspending, setSuspending] = useState<Row | null>(null);
  const [deleting, setDeleting] = useState<Row | null>(null);
  const query = { sort: orderText(sort) as Order, search };
  const pager = usePager(JSON.stringify(query));
  const [moving, setMoving] = useState<Readonly<{ customer: Row; planId: string }> | null>(null);
  const undo = useUndoPlan();
  const customers = useCall(
    'GET /customers',
    { query: { ...query, limit: PAGE_CUSTOMERS, cursor: pager.cursor } },
    { keepPrevious: true },
  );
  return (
    <div className="stack">
      <div>
        <input
          className="input filter-search"
          type="search"
          aria-label="Search by name, ID, key ID, or member email"
          placeholder="Name, ID, key ID, or email"
          maxLength={254}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      <FormError problem={customers.error} />
      {customers.data === undefined ? (
        customers.error === null && <Skeleton />
      ) : (
        <Table
          caption="Customers"
          rows={customers.data.items}
          rowKey={({ id }) => id}
          csvName="solway-customers"
          isStacked
          empty={<p className="muted">No matching customers.</p>}
          order={{ sort, columns: sortable, onSort: setSort }}
          columns={columns(setSuspending, setDeleting, (customer, planId) => setMoving({ customer, planId }))}
        />
      )}
      <PagerButtons pager={pager} next={customers.data?.next ?? null} />
      <CreateCustomer />
      {moving === null ? null : (
        <PlanDialog {...moving} onUndo={() => undo(moving.customer)} onClose={() => setMoving(null)} />
      )}
      {suspending === null ? null : (
        <SuspendDialog customer={suspending} onClose={() => setSuspending(null)} />
      )}
      {deleting === null ? null : <DeleteDialog customer={deleting} onClose={() => setDeleting(null)} />}
    </div>
  );
}

const columns = (
  onSuspend: (row: Row) => void,
  onDelete: (row: Row) => void,
  onPlan: (row: Row, planId: string) => void,
) => [
  {
    id: 'name',
    title: 'Customer',
    csv: ({ name }: Row) => name,
    cell: ({ id, name }: Row) => (
      <>
        <Link to="/" search={(before) => ({ ...before, customer: id, key: undefined })}>
          {name}
        </Link>
        <span className="table-second mono">{id}</span>
      </>
    ),
  },
  {
    id: 'plan',
    title: 'Plan',
    csv: ({ planId }: Row) => planId,
    cell: (row: Row) => <PlanSelect row={row} onChange={(planId) => onPlan(row, planId)} />,
  },
  {
    id: 'state',
    title: 'Status',
    csv: ({ state }: Row) => state,
    cell: ({ state }: Row) => <Chip tone={state === 'active' ? 'good' : 'bad'}>{state}</Chip>,
  },
  ...(['members', 'keys', 'creditsUsed'] as const).map((field) => ({
    id: field,
    title: { members: 'Members', keys: 'API keys', creditsUsed: 'Credits this month' }[field],
    align: 'end' as const,
    csv: (row: Row) => row[field],
    cell: (row: Row) => formatCount(row[field]),
  })),
  {
    id: 'createdAt',
    title: 'Created',
    wideOnly: true,
    // The default customer has no creation time.
    csv: ({ createdAt }: Row) => (createdAt === 0 ? '' : new Date(createdAt).toISOString()),
    cell: ({ createdAt }: Row) => (createdAt === 0 ? '–' : <Ago at={createdAt} />),
  },
  {
    id: 'do',
    title: 'Actions',
    hideTitle: true,
    align: 'end' as const,
    cell: (row: Row) => (
      <>
        {row.planUndo === null ? null : <UndoPlan row={row} />}
        {row.id === DEFAULT_CUSTOMER_ID ? null : (
          <>
            {row.state === 'active' ? (
              <Button size="s" kind="quiet" onClick={() => onSuspend(row)}>
                Suspend<span className="visually-hidden"> {row.name}</span>
              </Button>
            ) : (
              <Resume row={row} />
            )}
            <Button size="s" kind="quiet" onClick={() => onDelete(row)}>
              Delete<span className="visually-hidden"> {row.name}</span>
            </Button>
          </>
        )}
      </>
    ),
  },
];

function useCustomerChange(): (id: string, body: { state: Row['state'] }, message: string) => void {
  const toasts = useChangeToasts();
  const change = useChange('PATCH /customers/{customer}');
  return (id, body, message) => change.mutate({ path: { customer: id }, body }, toasts(message));
}

function PlanSelect({ row, onChange }: { row: Row; onChange: (planId: string) => void }) {
  const { service } = useSession();
  return (
    <select
      className="select"
      aria-label={`Plan for ${row.name}`}
      value={row.planId}
      onChange={(event) => onChange(event.target.value)}
    >
      {service.plans.some(({ id }) => id === row.planId) ? null : (
        <option value={row.planId}>{row.planId}</option>
      )}
      {service.plans.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}

function UndoPlan({ row }: { row: Row }) {
  const undo = useUndoPlan();
  return (
    <Button size="s" kind="quiet" onClick={() => undo(row)}>
      Undo plan change<span className="visually-hidden"> for {row.name}</span>
    </Button>
  );
}

function Resume({ row }: { row: Row }) {
  const change = useCustomerChange();
  return (
    <Button size="s" onClick={() => change(row.id, { state: 'active' }, `${row.name} resumed.`)}>
      Resume<span className="visually-hidden"> {row.name}</span>
    </Button>
  );
}

function keysText(keys: number): string {
  if (keys === 0) return '';
  const subject = keys === 1 ? 'Its API key is' : `Its ${formatCount(keys)} API keys are`;
  return `${subject} rejected within a second. `;
}

function SuspendDialog({ customer, onClose }: { customer: Row; onClose: () => void }) {
  const toast = useToast();
  const change = useChange('PATCH /customers/{customer}');
  return (
    <ConfirmDialog
      title={`Suspend ${customer.name}?`}
      action="Suspend"
      problem={change.error}
      isBusy={change.isPending}
      onClose={onClose}
      onConfirm={() =>
        change.mutate(
          { path: { customer: customer.id }, body: { state: 'suspended' } },
          {
            onSuccess: () => {
              toast(`${customer.name} suspended.`);
              onClose();
            },
          },
        )
      }
    >
      {keysText(customer.keys)}Its members have read-only access until you resume it.
    </ConfirmDialog>
  );
}

function DeleteDialog({ customer, onClose }: { customer: Row; onClose: () => void }) {
  const toast = useToast();
  const remove = useChange('POST /customers/{customer}/delete');
  const { id, name, keys, members } = customer;
  return (
    <ConfirmDialog
      title={`Delete ${name}?`}
      action="Delete"
      toType={name}
      problem={remove.error}
      isBusy={remove.isPending}
      onClose={onClose}
      onConfirm={() =>
        remove.mutate(
          { path: { customer: id }, body: { name } },
          {
            onSuccess: () => {
              toast(`${name} deleted.`);
              onClose();
            },
          },
        )
      }
    >
      This cannot be undone. API keys ({formatCount(keys)}) are revoked and open connections close.
      Memberships ({formatCount(members)}), API tokens, semi-custodial wallets, and logs are deleted. Usage
      totals and audit log entries remain under the customer’s ID.
    </ConfirmDialog>
  );
}

function CreateCustomer() {
  const toast = useToast();
  const [name, setName] = useState('');
  const create = useChange('POST /customers');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate(
      { body: { name: name.trim() } },
      {
        onSuccess: (created) => {
          setName('');
          toast(`${created.name} created. Open it and invite members under Team.`);
        },
      },
    );
  };
  return (
    <form onSubmit={submit} className="stack form">
      <TextInput label="New customer" name="name" value={name} onChange={setName} problem={create.error} />
      <FormError problem={create.error} />
      <div>
        <Button type="submit" busy={create.isPending}>
          Create customer
        </Button>
      </div>
    </form>
  );
}

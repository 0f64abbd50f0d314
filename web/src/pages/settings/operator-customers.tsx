import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { messageOf } from '../../api.ts';
import { DEFAULT_CUSTOMER_ID } from '../../default-tenant.ts';
import { formatCount } from '../../format.ts';
import { useCall, useChange } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Chip } from '../../ui/chip.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { FormError } from '../../ui/field.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Table } from '../../ui/table.tsx';
import { useToast } from '../../ui/toast.tsx';
import { TextInput } from '../sign-in/text-input.tsx';

type Row = RouteOutput<'GET /customers'>['items'][number];

const CUSTOMERS_MAX = 200;

export function OperatorCustomers() {
  const [search, setSearch] = useState('');
  const [suspending, setSuspending] = useState<Row | null>(null);
  const customers = useCall(
    'GET /customers',
    { query: { limit: CUSTOMERS_MAX, ...(search === '' ? {} : { search }) } },
    { keepPrevious: true },
  );
  return (
    <div className="stack">
      <div>
        <input
          className="input filter-search"
          type="search"
          aria-label="Search customers by name"
          placeholder="Search customers"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
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
          empty={<p className="muted">No matching customers.</p>}
          columns={columns(setSuspending)}
        />
      )}
      {customers.data?.next == null ? null : (
        <p className="muted">Only the first {CUSTOMERS_MAX} customers are shown. Search to find others.</p>
      )}
      <CreateCustomer />
      {suspending === null ? null : (
        <SuspendDialog customer={suspending} onClose={() => setSuspending(null)} />
      )}
    </div>
  );
}

const columns = (onSuspend: (row: Row) => void) => [
  {
    id: 'name',
    title: 'Customer',
    sortBy: ({ name }: Row) => name,
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
    sortBy: ({ planId }: Row) => planId,
    csv: ({ planId }: Row) => planId,
    cell: (row: Row) => <PlanSelect row={row} />,
  },
  {
    id: 'state',
    title: 'Status',
    sortBy: ({ state }: Row) => state,
    csv: ({ state }: Row) => state,
    cell: ({ state }: Row) => <Chip tone={state === 'active' ? 'good' : 'bad'}>{state}</Chip>,
  },
  ...(['members', 'keys', 'creditsUsed'] as const).map((field) => ({
    id: field,
    title: { members: 'Members', keys: 'API keys', creditsUsed: 'Credits this month' }[field],
    align: 'end' as const,
    sortBy: (row: Row) => row[field],
    csv: (row: Row) => row[field],
    cell: (row: Row) => formatCount(row[field]),
  })),
  {
    id: 'do',
    title: 'Actions',
    hideTitle: true,
    align: 'end' as const,
    cell: (row: Row) =>
      row.id === DEFAULT_CUSTOMER_ID ? null : row.state === 'active' ? (
        <Button size="s" kind="quiet" onClick={() => onSuspend(row)}>
          Suspend<span className="visually-hidden"> {row.name}</span>
        </Button>
      ) : (
        <Resume row={row} />
      ),
  },
];

function useCustomerChange(): (
  id: string,
  body: { planId?: string; state?: Row['state'] },
  message: string,
) => void {
  const toast = useToast();
  const change = useChange('PATCH /customers/{customer}');
  return (id, body, message) =>
    change.mutate(
      { path: { customer: id }, body },
      { onSuccess: () => toast(message), onError: (problem) => toast(messageOf(problem), 'bad') },
    );
}

function PlanSelect({ row }: { row: Row }) {
  const { service } = useSession();
  const change = useCustomerChange();
  return (
    <select
      className="select"
      aria-label={`Plan for ${row.name}`}
      value={row.planId}
      onChange={(event) => change(row.id, { planId: event.target.value }, `Plan for ${row.name} updated.`)}
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

function Resume({ row }: { row: Row }) {
  const change = useCustomerChange();
  return (
    <Button size="s" onClick={() => change(row.id, { state: 'active' }, `${row.name} resumed.`)}>
      Resume<span className="visually-hidden"> {row.name}</span>
    </Button>
  );
}

function keysText(keys: number): string {
  if (keys === 0) return 'Its';
  const subject = keys === 1 ? 'Its API key is' : `Its ${formatCount(keys)} API keys are`;
  return `${subject} rejected within a second, and its`;
}

function SuspendDialog({ customer, onClose }: { customer: Row; onClose: () => void }) {
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
          { onSuccess: onClose },
        )
      }
    >
      {keysText(customer.keys)} members have read-only access until you resume it.
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

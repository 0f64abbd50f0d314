import { useState } from 'react';
import { formatCount } from '../../format.ts';
import { limitText, type Plan, priceText } from '../../plan-limits.ts';
import { useCall, useChange } from '../../queries.ts';
import { Button } from '../../ui/button.tsx';
import { Chip } from '../../ui/chip.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Pending } from '../../ui/pending.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { useChangeToasts } from '../../ui/toast.tsx';
import { PlanEditor } from './plan-editor.tsx';

/** Plans that exist without being in the configuration file, which can change them. */
const builtInIds: ReadonlySet<string> = new Set(['default', 'rehearsal']);

/** null: a new plan. */
type Edited = Readonly<{ plan: Plan | null }>;

export function OperatorPlans() {
  const plans = useCall('GET /plans', {});
  const [edited, setEdited] = useState<Edited | null>(null);
  const [deleting, setDeleting] = useState<Plan | null>(null);
  const undo = useUndoEdit();
  return (
    <Panel
      title="Plans"
      aside={
        <Button kind="primary" onClick={() => setEdited({ plan: null })}>
          Create plan
        </Button>
      }
      note="Built-in plans and plans from the configuration file are read-only here. To change them, edit the file and reload the configuration."
    >
      <Pending query={plans}>
        {(data) => (
          <Table
            caption="Plans"
            rows={data.plans}
            rowKey={({ id }) => id}
            columns={columns((plan) => setEdited({ plan }), setDeleting)}
            csvName="solway-plans"
            isStacked
          />
        )}
      </Pending>
      {edited === null ? null : (
        <PlanEditor plan={edited.plan} onUndo={undo} onClose={() => setEdited(null)} />
      )}
      {deleting === null ? null : <DeleteDialog plan={deleting} onClose={() => setDeleting(null)} />}
    </Panel>
  );
}

const columns = (onEdit: (plan: Plan) => void, onDelete: (plan: Plan) => void): Column<Plan>[] => [
  {
    id: 'name',
    title: 'Plan',
    sortBy: ({ name }) => name,
    csv: ({ id }) => id,
    cell: ({ id, name, source, archivedAt }) => (
      <>
        {name}{' '}
        {source === 'file' ? <Chip>{builtInIds.has(id) ? 'Built-in' : 'Configuration file'}</Chip> : null}
        {archivedAt === null ? null : <Chip tone="warn">Archived</Chip>}
        {id === name ? null : <span className="table-second mono">{id}</span>}
      </>
    ),
  },
  {
    id: 'price',
    title: 'Price',
    csv: ({ price }) => priceText(price),
    cell: ({ price }) => priceText(price),
  },
  ...(['monthlyCredits', 'rpcPerSecond'] as const).map((limit) => ({
    id: limit,
    title: { monthlyCredits: 'Monthly credit limit', rpcPerSecond: 'Requests per second' }[limit],
    align: 'end' as const,
    sortBy: ({ limits }: Plan) => limits[limit],
    csv: ({ limits }: Plan) => limits[limit],
    cell: ({ limits }: Plan) => limitText(limit, limits[limit]),
  })),
  ...(['customers', 'keys'] as const).map((field) => ({
    id: field,
    title: { customers: 'Customers', keys: 'API keys' }[field],
    align: 'end' as const,
    sortBy: (plan: Plan) => plan[field],
    csv: (plan: Plan) => plan[field],
    cell: (plan: Plan) => formatCount(plan[field]),
  })),
  {
    id: 'do',
    title: 'Actions',
    hideTitle: true,
    align: 'end',
    cell: (plan) => <Actions plan={plan} onEdit={onEdit} onDelete={onDelete} />,
  },
];

function useUndoEdit(): (plan: Plan) => void {
  const toasts = useChangeToasts();
  const undo = useChange('POST /plans/{plan}/undo');
  return ({ id, name }) => undo.mutate({ path: { plan: id } }, toasts(`Last edit of ${name} undone.`));
}

function Actions({
  plan,
  onEdit,
  onDelete,
}: {
  plan: Plan;
  onEdit: (plan: Plan) => void;
  onDelete: (plan: Plan) => void;
}) {
  const toasts = useChangeToasts();
  const archive = useChange('POST /plans/{plan}/archive');
  const restore = useChange('POST /plans/{plan}/restore');
  const undo = useUndoEdit();
  const path = { plan: plan.id };
  if (plan.source === 'file')
    return (
      <Button size="s" kind="quiet" onClick={() => onEdit(plan)}>
        View<span className="visually-hidden"> {plan.name}</span>
      </Button>
    );
  return (
    <Menu
      label={`Actions for ${plan.name}`}
      button="…"
      buttonProps={{ size: 's', kind: 'quiet' }}
      align="end"
      items={[
        { label: 'Edit', onSelect: () => onEdit(plan) },
        ...(plan.undoAt === null
          ? []
          : [
              {
                label: 'Undo last edit',
                onSelect: () => undo(plan),
              },
            ]),
        plan.archivedAt === null
          ? { label: 'Archive', onSelect: () => archive.mutate({ path }, toasts(`${plan.name} archived.`)) }
          : { label: 'Restore', onSelect: () => restore.mutate({ path }, toasts(`${plan.name} restored.`)) },
        { label: 'Delete', danger: true, onSelect: () => onDelete(plan) },
      ]}
    />
  );
}

function DeleteDialog({ plan, onClose }: { plan: Plan; onClose: () => void }) {
  const remove = useChange('DELETE /plans/{plan}');
  return (
    <ConfirmDialog
      title={`Delete ${plan.name}?`}
      action="Delete"
      problem={remove.error}
      isBusy={remove.isPending}
      onClose={onClose}
      onConfirm={() => remove.mutate({ path: { plan: plan.id } }, { onSuccess: onClose })}
    >
      Only a plan that has never been used can be deleted. Archive others to stop offering them.
    </ConfirmDialog>
  );
}

import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { formatCount, formatMonth } from '../../format.ts';
import { planDifferences } from '../../plan-limits.ts';
import { usePlanNames } from '../../plan-name.tsx';
import { useCall, useChange } from '../../queries.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { useChangeToasts, useToast } from '../../ui/toast.tsx';

type Customer = RouteOutput<'GET /customers'>['items'][number];

export function useUndoPlan(): (customer: Customer) => void {
  const toasts = useChangeToasts();
  const planName = usePlanNames();
  const undo = useChange('POST /customers/{customer}/plan/undo');
  return ({ id, name }) =>
    undo.mutate(
      { path: { customer: id } },
      toasts(({ planId }) => `Plan change undone. ${name} is on the ${planName(planId)} plan.`),
    );
}

/** Confirms a change of a customer's plan. */
export function PlanDialog({
  customer,
  planId,
  onUndo,
  onClose,
}: {
  customer: Customer;
  planId: string;
  /** Called after the dialog was closed. */
  onUndo: () => void;
  onClose: () => void;
}) {
  const toast = useToast();
  const change = useChange('PATCH /customers/{customer}');
  const plans = useCall('GET /plans', {});
  const planOf = (id: string) => plans.data?.plans.find((plan) => plan.id === id);
  const [before, after] = [planOf(customer.planId), planOf(planId)];
  const name = after?.name ?? planId;
  return (
    <ConfirmDialog
      title={`Move ${customer.name} to ${name}?`}
      action="Change plan"
      problem={plans.error ?? change.error}
      isBusy={change.isPending || after === undefined}
      onClose={onClose}
      onConfirm={() =>
        change.mutate(
          { path: { customer: customer.id }, body: { planId } },
          {
            onSuccess: () => {
              toast(`${customer.name} is now on the ${name} plan.`, 'good', onUndo);
              onClose();
            },
          },
        )
      }
      choice={
        before === undefined || after === undefined ? null : (
          <Facts facts={planDifferences(before, after).filter(([field]) => field !== 'Name')} />
        )
      }
    >
      The limits apply within seconds to all API keys on the previous plan ({formatCount(customer.keys)} API
      keys in total). The price applies to all of {formatMonth(Date.now())}; credits used so far are billed
      under the previous plan.
    </ConfirmDialog>
  );
}

import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { messageOf } from '../../api.ts';
import { Button } from '../../ui/button.tsx';
import { Chip } from '../../ui/chip.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Table } from '../../ui/table.tsx';
import { Ago } from '../../ui/time.tsx';
import { useToast } from '../../ui/toast.tsx';

export type Target = RouteOutput<'GET /alerts'>['targets'][number];

export const targetNouns = {
  webhook: 'Webhook',
  email: 'Email address',
  slack: 'Slack webhook',
  pagerduty: 'PagerDuty integration',
} as const satisfies Record<Target['kind'], string>;

type Callbacks<Result> = Readonly<{ onSuccess: (result: Result) => void; onError: (problem: Error) => void }>;
type TestResult = Readonly<{ delivered: boolean; problem: string | null }>;

export type TargetActions = Readonly<{
  isTesting: boolean;
  isRemoving: boolean;
  test: (callbacks: Callbacks<TestResult>) => void;
  remove: (callbacks: Callbacks<unknown>) => void;
}>;

/** Recipients of notifications or alerts. @param useActions - null: the user may only read. */
export function TargetTable({
  targets,
  useActions,
}: {
  targets: readonly Target[];
  useActions: ((target: Target) => TargetActions) | null;
}) {
  return (
    <Table
      caption="Recipients"
      rows={targets}
      rowKey={({ id }) => id}
      empty={
        <EmptyState title="No recipients yet">
          {useActions === null ? undefined : 'Add one below.'}
        </EmptyState>
      }
      columns={[
        {
          id: 'to',
          title: 'Recipient',
          sortBy: ({ to }) => to,
          cell: ({ to, kind }) => (
            <>
              <span className="break">{to}</span>
              <span className="table-second">{targetNouns[kind]}</span>
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
        ...(useActions === null
          ? []
          : [
              {
                id: 'do',
                title: 'Actions',
                hideTitle: true,
                align: 'end' as const,
                cell: (target: Target) => <TargetButtons target={target} useActions={useActions} />,
              },
            ]),
      ]}
    />
  );
}

function TargetButtons({
  target,
  useActions,
}: {
  target: Target;
  useActions: (target: Target) => TargetActions;
}) {
  const toast = useToast();
  const { test, remove, isTesting, isRemoving } = useActions(target);
  const onError = (problem: Error): void => toast(messageOf(problem), 'bad');
  const onTested = ({ delivered, problem }: TestResult): void =>
    delivered
      ? toast('Test notification delivered.')
      : toast(`Delivery failed. ${problem ?? 'The reason is unknown.'}`, 'bad');
  return (
    <>
      <Button size="s" busy={isTesting} onClick={() => test({ onSuccess: onTested, onError })}>
        Send test<span className="visually-hidden"> {target.to}</span>
      </Button>{' '}
      <Button
        size="s"
        kind="quiet"
        busy={isRemoving}
        onClick={() => remove({ onSuccess: () => toast(`${targetNouns[target.kind]} removed.`), onError })}
      >
        Remove<span className="visually-hidden"> {target.to}</span>
      </Button>
    </>
  );
}

import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { StackedArea } from '../../charts/stacked-area.tsx';
import { useZoom } from '../../charts/zoom.ts';
import { formatCount, formatShare } from '../../format.ts';
import { outcomeNames, outcomeSeries, outcomes } from '../../outcomes.ts';
import { useRangedCall } from '../../queries.ts';
import { useFrameSearch } from '../../range.ts';
import { KeySwitch } from '../../shell/key-switch.tsx';
import { Page } from '../../shell/page.tsx';
import { useSession } from '../../shell/session.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { OutcomeChip } from '../../ui/outcome-chip.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Pending } from '../../ui/pending.tsx';
import { CodeTable } from './code-table.tsx';
import { UnknownMethods } from './unknown-methods.tsx';
import { WhereTable } from './where-table.tsx';
import '../../styles/traffic.css';

type Errors = RouteOutput<'GET /customers/{customer}/errors'>;

export function ErrorsPage() {
  const { customer, user } = useSession();
  const { key } = useFrameSearch();
  const errors = useRangedCall('GET /customers/{customer}/errors', {
    path: { customer: customer.id },
    query: { key },
  });
  return (
    <Page
      title="Errors"
      question="Failed requests by outcome, error code, method, and API key."
      updatedAt={errors.dataUpdatedAt}
      ranged
      actions={<KeySwitch />}
    >
      <Pending query={errors}>{(data) => <ErrorsContent errors={data} />}</Pending>
      {user.isOperator ? <UnknownMethods customer={customer.id} /> : null}
    </Page>
  );
}

const failureNames = outcomeNames.filter((name) => name !== 'ok');

function ErrorsContent({ errors }: { errors: Errors }) {
  const zoom = useZoom();
  const { axis, byStatus, rows, codes } = errors;
  const series = useMemo(() => outcomeSeries({ ...byStatus, ok: [] }), [byStatus]);
  if (rows.length === 0)
    return (
      <EmptyState title="No errors in this time range">
        All requests succeeded, or none were made. <Link to="/usage">View usage</Link>
      </EmptyState>
    );
  return (
    <>
      <Outcomes errors={errors} />
      <Panel title="By outcome over time">
        <StackedArea title="Errors by outcome" axis={axis} series={series} csvName="errors" onZoom={zoom} />
      </Panel>
      <Panel
        title="By code"
        note="Counts all requests. Select a code to list its logged requests, or open an example."
      >
        <CodeTable codes={codes} />
      </Panel>
      <Panel title="By method and API key">
        <WhereTable rows={rows} />
      </Panel>
    </>
  );
}

function Outcomes({ errors: { byStatus, rows } }: { errors: Errors }) {
  const all = rows.reduce((sum, { requests }) => sum + requests, 0);
  return (
    <dl className="outcomes">
      {failureNames.flatMap((name) => {
        const count = (byStatus[name] ?? []).reduce((sum, value) => sum + value, 0);
        if (count === 0) return [];
        return (
          <div key={name} className="outcomes-one">
            <dt>
              <OutcomeChip status={name} />
            </dt>
            <dd>
              <span className="outcomes-count">{formatCount(count)}</span>{' '}
              <span className="muted">{formatShare(count / Math.max(all, count))}</span>
              <p className="muted">{outcomes[name].about}</p>
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

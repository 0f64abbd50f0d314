import { useCall } from '../../queries.ts';
import { Chip } from '../../ui/chip.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Pending } from '../../ui/pending.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { AlertSilences } from './alert-silences.tsx';
import { AddAlertTarget, AlertTargets } from './alert-targets.tsx';

const REFETCH_MS = 5_000;

/** Alerts about problems of the service, for operators. */
export function AlertSettings() {
  const alerts = useCall('GET /alerts', {}, { refetchMs: REFETCH_MS });
  return (
    <Pending query={alerts}>
      {({ alerts: raised, targets, silences }) => (
        <div className="stack">
          <p className="muted">
            Every recipient is notified when an alert is raised and when it is resolved.
          </p>
          <Panel title="Recipients">
            <div className="stack">
              <AlertTargets targets={targets} />
              <AddAlertTarget />
            </div>
          </Panel>
          <Panel title="Silences" note="While alerts are silenced, the dashboard still shows the problems.">
            <AlertSilences silences={silences} />
          </Panel>
          <Panel title="Recent alerts">
            <Table
              caption="Recent alerts"
              rows={raised}
              rowKey={({ id }) => id}
              empty={<p className="muted">No alerts yet.</p>}
              columns={[
                {
                  id: 'text',
                  title: 'Problem',
                  cell: ({ text, severity, notifiedAt }) => (
                    <>
                      <Chip tone={severity === 'error' ? 'bad' : 'warn'}>{severity}</Chip> {text}
                      {notifiedAt === null ? <span className="table-second">Not sent</span> : null}
                    </>
                  ),
                },
                {
                  id: 'since',
                  title: 'Since',
                  sortBy: ({ since }) => since,
                  cell: ({ since }) => <Time at={since} />,
                },
                {
                  id: 'resolved',
                  title: 'Resolved',
                  sortBy: ({ resolvedAt }) => resolvedAt,
                  cell: ({ resolvedAt }) =>
                    resolvedAt === null ? <Chip tone="bad">open</Chip> : <Time at={resolvedAt} />,
                },
              ]}
            />
          </Panel>
        </div>
      )}
    </Pending>
  );
}

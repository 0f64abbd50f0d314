import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { Lines } from '../../charts/lines.tsx';
import { StackedArea } from '../../charts/stacked-area.tsx';
import { useZoom } from '../../charts/zoom.ts';
import { capitalized, formatCount, formatMs, formatMsTick, formatShare, formatShort } from '../../format.ts';
import { useCall, useRangedCall } from '../../queries.ts';
import { Page } from '../../shell/page.tsx';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Pending } from '../../ui/pending.tsx';
import { Table } from '../../ui/table.tsx';
import { Tile } from '../../ui/tile.tsx';
import { Time } from '../../ui/time.tsx';
import { CordonDialog } from '../upstreams/cordon-dialog.tsx';
import { isLastOf, isOnlyActive, isOnlyGeyser } from '../upstreams/last-node.ts';
import { NodeStateChip } from '../upstreams/node-state-chip.tsx';
import { RemoveDialog } from '../upstreams/remove-dialog.tsx';
import '../../styles/traffic.css';

const REFETCH_MS = 2_000;

type History = RouteOutput<'GET /upstreams/{node}/history'>;

export function NodePage() {
  const { node = '' } = useParams({ strict: false });
  const { user } = useSession();
  const history = useRangedCall(
    'GET /upstreams/{node}/history',
    { path: { node } },
    { enabled: user.isOperator },
  );
  return (
    <Page
      title={node}
      question={<Link to="/upstreams">All upstreams</Link>}
      updatedAt={history.dataUpdatedAt}
      ranged
      actions={user.isOperator ? <NodeActions name={node} /> : undefined}
    >
      {user.isOperator ? (
        <Pending query={history}>{(data) => <NodeContent history={data} />}</Pending>
      ) : (
        <EmptyState title="Upstreams are visible to operators only">
          See Performance and Errors for latency and upstream errors.
        </EmptyState>
      )}
    </Page>
  );
}

/** Drains or uncordons the node, unless several networks have a node of this name. */
function NodeActions({ name }: { name: string }) {
  const { service } = useSession();
  const upstreams = useCall('GET /upstreams', {}, { refetchMs: REFETCH_MS });
  const [isOpen, setIsOpen] = useState(false);
  const onDone = (): void => setIsOpen(false);
  const nodes = upstreams.data?.nodes ?? [];
  const node = nodes.find((one) => one.name === name);
  if (node === undefined || nodes.some((one) => one.name === name && one.network !== node.network))
    return null;
  const isOut = node.cordoned || node.drained;
  return (
    <>
      <NodeStateChip state={node.state} />
      <Button onClick={() => setIsOpen(true)}>{isOut ? 'Uncordon' : 'Drain'}</Button>
      {!isOpen ? null : isOut ? (
        <CordonDialog node={node} isLast={isLastOf(nodes, node)} onDone={onDone} />
      ) : (
        <RemoveDialog
          node={node}
          removal="drain"
          isLast={isOnlyActive(nodes, node)}
          isLastGeyser={node.network === service.network && isOnlyGeyser(nodes, node)}
          onDone={onDone}
        />
      )}
    </>
  );
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const lastOf = (values: readonly (number | null)[]): number | null =>
  values.findLast((value) => value !== null) ?? null;

function NodeTiles({ history }: { history: History }) {
  const { network, version, responses, failures, throttled, share, p95, lagSlots, ready } = history;
  const all = sumOf(responses) + sumOf(failures) + sumOf(throttled);
  const failed = all === 0 ? null : sumOf(failures) / all;
  const measured = ready.filter((value) => value !== null);
  const healthy = measured.length === 0 ? null : sumOf(measured) / measured.length;
  const [lag, traffic] = [lastOf(lagSlots), lastOf(share)];
  return (
    <div className="tiles">
      <Tile
        label="Network"
        value={network ?? '–'}
        note={version === null ? undefined : `Version ${version}`}
      />
      <Tile label="Time healthy" value={healthy === null ? '–' : formatShare(healthy)} values={ready} />
      <Tile label="Slots behind" value={lag === null ? '–' : formatCount(lag)} values={lagSlots} />
      <Tile label="Latency (p95)" value={formatMs(lastOf(p95))} values={p95} />
      <Tile
        label="Error rate"
        value={failed === null ? '–' : formatShare(failed)}
        tone={failed !== null && failed > 0.05 ? 'bad' : undefined}
        note={`${formatShort(all)} attempts`}
      />
      <Tile label="Share of traffic" value={traffic === null ? '–' : formatShare(traffic)} values={share} />
    </div>
  );
}

function NodeContent({ history }: { history: History }) {
  const zoom = useZoom();
  const { axis, lagSlots, p50, p95, responses, failures, throttled, share, events } = history;
  const line = (id: string, label: string, color: `--${string}`, values: readonly (number | null)[]) => ({
    ...{ id, label, color, values },
  });
  const shared = { axis, onZoom: zoom } as const;
  return (
    <>
      <NodeTiles history={history} />
      <div className="columns columns-2">
        <Panel title="Slots behind">
          <Lines
            {...shared}
            title="Slots behind"
            series={[line('lag', 'Slots behind', '--series-1', lagSlots)]}
            csvName="node-lag"
          />
        </Panel>
        <Panel title="Latency">
          <Lines
            {...shared}
            title="Latency"
            series={[line('p50', 'p50', '--series-1', p50), line('p95', 'p95', '--series-2', p95)]}
            format={formatMs}
            tick={formatMsTick}
            csvName="node-latency"
          />
        </Panel>
        <Panel title="Attempts">
          <StackedArea
            {...shared}
            title="Attempts"
            series={[
              line('ok', 'Succeeded', '--status-ok', responses),
              line('throttled', 'Throttled', '--status-limited', throttled),
              line('failed', 'Failed', '--status-upstream', failures),
            ]}
            csvName="node-attempts"
          />
        </Panel>
        <Panel title="Share of traffic">
          <Lines
            {...shared}
            title="Share of traffic"
            series={[line('share', 'Share of network traffic', '--series-3', share)]}
            format={formatShare}
            tick={formatShare}
            csvName="node-share"
          />
        </Panel>
      </div>
      <Panel title="Events" note="State changes seen by each gateway.">
        <EventTable events={events} />
      </Panel>
    </>
  );
}

const EventTable = ({ events }: { events: History['events'] }) => (
  <Table
    caption="Events"
    rows={events}
    rowKey={({ id }) => id}
    initialSort={{ column: 'at', down: true }}
    empty={<p className="muted">No events in this time range.</p>}
    csvName="node-events"
    columns={[
      {
        id: 'at',
        title: 'Time',
        sortBy: ({ at }) => at,
        csv: ({ at }) => at,
        cell: ({ at }) => <Time at={at} />,
      },
      {
        id: 'kind',
        title: 'Event',
        csv: ({ kind }) => kind,
        cell: ({ kind }) => (kind === 'version' ? 'New version' : <NodeStateChip state={kind} />),
      },
      {
        id: 'detail',
        title: 'Reason',
        csv: ({ detail }) => detail,
        cell: ({ detail }) => (detail === null ? '' : capitalized(detail)),
      },
      {
        id: 'gateway',
        title: 'Gateway',
        wideOnly: true,
        csv: ({ gateway }) => gateway,
        cell: ({ gateway }) => <span className="mono">{gateway}</span>,
      },
    ]}
  />
);

import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { StackedArea } from '../../charts/stacked-area.tsx';
import { useZoom } from '../../charts/zoom.ts';
import { formatCount, formatMs, formatNumberOf, formatShare, formatShort } from '../../format.ts';
import { successTone } from '../../outcome-tone.ts';
import { outcomeNames, outcomeSeries, outcomes } from '../../outcomes.ts';
import { useRangedCall } from '../../queries.ts';
import { Page } from '../../shell/page.tsx';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { FormError } from '../../ui/field.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Table } from '../../ui/table.tsx';
import { Tile } from '../../ui/tile.tsx';
import { useKeyCommands } from '../keys/key-dialogs.tsx';
import { GettingStarted } from './getting-started.tsx';
import { monthNote } from './month-note.ts';
import { QuotaMeter } from './quota-meter.tsx';
import { UpstreamStrip } from './upstream-strip.tsx';
import './home.css';

export type Summary = RouteOutput<'GET /customers/{customer}/summary'>;

export function HomePage() {
  const { customer, user, can } = useSession();
  const { dialog, create } = useKeyCommands();
  const summary = useRangedCall('GET /customers/{customer}/summary', { path: { customer: customer.id } });
  const { data } = summary;
  const [isInSetup, setIsInSetup] = useState(false);

  return (
    <Page
      title="Home"
      question="Traffic, latency, and remaining quota at a glance."
      updatedAt={summary.dataUpdatedAt}
      ranged
      actions={
        can('developer') ? (
          <Button icon="plus" onClick={create}>
            Create key
          </Button>
        ) : null
      }
    >
      {dialog}
      <FormError problem={summary.error} />
      {data === undefined ? (
        summary.error === null && <Skeleton height="l" />
      ) : (
        <>
          <Tiles summary={data} />
          <div className="columns columns-aside">
            <div className="stack home-main">
              {data.hasSucceeded && !isInSetup ? null : (
                <GettingStarted onCalled={() => setIsInSetup(true)} onDone={() => setIsInSetup(false)} />
              )}
              <Requests summary={data} />
              <Errors summary={data} />
            </div>
            <div className="stack home-aside">
              <Panel title="Quota" aside={<Link to="/usage">View usage</Link>}>
                {data.quotas.map((quota) => (
                  <QuotaMeter key={quota.planId} quota={quota} />
                ))}
                {data.quotas.length === 0 ? (
                  <p className="muted">Create an API key to see its quota.</p>
                ) : null}
              </Panel>
              {user.isOperator ? <UpstreamStrip /> : null}
            </div>
          </div>
        </>
      )}
    </Page>
  );
}

const successShare = ({ requests, ok }: Summary['now'], withoutKey: number): number | null =>
  requests === withoutKey ? null : ok / (requests - withoutKey);

function requestsOf({ byStatus }: Summary): number[] {
  const all = Object.values(byStatus);
  return (byStatus.ok ?? []).map((_, step) => all.reduce((sum, values) => sum + (values[step] ?? 0), 0));
}

function Tiles({ summary }: { summary: Summary }) {
  const { now, before, withoutKey, byStatus, p95, credits, quotas, connections } = summary;
  const requests = requestsOf(summary);
  const [share, shareBefore] = [successShare(now, withoutKey.now), successShare(before, withoutKey.before)];
  const tone = successTone(share);
  const canBeGood = tone !== 'bad';
  return (
    <div className="tiles">
      <Tile
        label="Requests"
        value={formatShort(now.requests)}
        values={requests}
        delta={{ now: now.requests, before: before.requests, good: null }}
      />
      <Tile
        label="Success rate"
        value={share === null ? '–' : formatShare(share)}
        tone={tone}
        values={
          withoutKey.now > 0
            ? undefined
            : requests.map((all, step) => (all === 0 ? null : (byStatus.ok?.[step] ?? 0) / all))
        }
        note={
          withoutKey.now > 0
            ? `Excludes ${formatNumberOf(withoutKey.now, 'request')} without a valid API key`
            : undefined
        }
        delta={{
          now: share,
          before: shareBefore,
          good: 'up',
          canBeGood,
          formatDifference: (difference) => `${(difference * 100).toFixed(2)} points`,
        }}
      />
      <Tile
        label="Latency (p95)"
        value={formatMs(now.latency.p95)}
        values={p95}
        delta={{ now: now.latency.p95, before: before.latency.p95, good: 'down', canBeGood }}
        note={canBeGood || now.latency.p95 === null ? undefined : 'Includes failed requests'}
      />
      <Tile
        label="Credits"
        value={formatShort(now.credits)}
        values={credits}
        delta={{ now: now.credits, before: before.credits, good: null }}
        note={monthNote(quotas)}
      />
      <Tile
        label="Open connections"
        value={formatCount(connections.websocket + connections.grpc)}
        note={
          <>
            {formatCount(connections.websocket)} WebSocket, {formatCount(connections.grpc)} gRPC{' '}
            <Link to="/streams">Streams</Link>
          </>
        }
      />
    </div>
  );
}

function Requests({ summary }: { summary: Summary }) {
  const zoom = useZoom();
  return (
    <Panel title="Requests by outcome">
      <StackedArea
        title="Requests by outcome"
        axis={summary.axis}
        series={outcomeSeries(summary.byStatus)}
        csvName="solway-requests"
        onZoom={zoom}
      />
    </Panel>
  );
}

type ErrorRow = Readonly<{ id: (typeof outcomeNames)[number]; requests: number; share: number }>;

function Errors({ summary }: { summary: Summary }) {
  const all = summary.now.requests;
  const rows: readonly ErrorRow[] = outcomeNames
    .filter((id) => id !== 'ok')
    .map((id) => {
      const requests = (summary.byStatus[id] ?? []).reduce((sum, value) => sum + value, 0);
      return { id, requests, share: all === 0 ? 0 : requests / all };
    })
    .filter(({ requests }) => requests > 0);
  return (
    <Panel title="Errors by outcome" aside={<Link to="/errors">Errors</Link>}>
      <Table
        caption="Errors by outcome"
        rows={rows}
        rowKey={({ id }) => id}
        initialSort={{ column: 'requests', down: true }}
        empty={<p className="muted">No errors in this time range.</p>}
        columns={[
          {
            id: 'reason',
            title: 'Outcome',
            sortBy: ({ id }) => outcomes[id].label,
            cell: ({ id }) => (
              <>
                <strong>{outcomes[id].label}</strong>
                <span className="table-second">{outcomes[id].about}</span>
              </>
            ),
          },
          {
            id: 'requests',
            title: 'Requests',
            align: 'end',
            sortBy: ({ requests }) => requests,
            cell: ({ requests }) => formatCount(requests),
          },
          {
            id: 'share',
            title: 'Share',
            align: 'end',
            sortBy: ({ share }) => share,
            cell: ({ share }) => formatShare(share),
          },
        ]}
      />
    </Panel>
  );
}

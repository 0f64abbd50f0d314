import { useCallback, useState } from 'react';
import type { NodeJson } from '../../../../src/control/api/contract/operator.ts';
import { formatCount, formatMs, formatNumberOf } from '../../format.ts';
import { useCall } from '../../queries.ts';
import { Page } from '../../shell/page.tsx';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Pending } from '../../ui/pending.tsx';
import { Tile } from '../../ui/tile.tsx';
import { AddDialog } from './add-dialog.tsx';
import { ChangeDialog } from './change-dialog.tsx';
import { CordonDialog } from './cordon-dialog.tsx';
import { GatewayTable } from './gateway-table.tsx';
import { isLastOf, isOnlyActive, isOnlyGeyser } from './last-node.ts';
import { NodeTable } from './node-table.tsx';
import { type NodeRemoval, RemoveDialog } from './remove-dialog.tsx';
import '../../styles/traffic.css';

const REFETCH_MS = 2_000;

export function UpstreamsPage() {
  const { user, service } = useSession();
  const upstreams = useCall('GET /upstreams', {}, { refetchMs: REFETCH_MS, enabled: user.isOperator });
  const [chosen, setChosen] = useState<NodeJson | null>(null);
  const [isAdding, setIsAdding] = useState(false);
  const isDevelopment = service.mode === 'development';
  const [edited, setEdited] = useState<string | null>(null);
  const onEdit = useCallback(({ name }: NodeJson) => setEdited(name), []);
  const toEdit = upstreams.data?.added.find(({ name }) => name === edited);
  const [pendingRemoval, setPendingRemoval] = useState<PendingRemoval | null>(null);
  const onRemove = useCallback(
    (node: NodeJson, removal: NodeRemoval) => setPendingRemoval({ node, removal }),
    [],
  );

  if (!user.isOperator)
    return (
      <Page title="Upstreams">
        <EmptyState title="Upstreams are visible to operators only">
          See Performance and Errors for latency and upstream errors.
        </EmptyState>
      </Page>
    );
  return (
    <Page
      title="Upstreams"
      question="Health, slot lag, and status of upstream nodes."
      updatedAt={upstreams.dataUpdatedAt}
      actions={
        <>
          {isDevelopment ? <span className="muted">Nodes cannot be added in development mode.</span> : null}
          <Button kind="primary" disabled={isDevelopment} onClick={() => setIsAdding(true)}>
            Add node
          </Button>
        </>
      }
    >
      <Pending query={upstreams}>
        {({ nodes, gateways }) => (
          <>
            {nodes.length === 0 ? null : <NodeTiles nodes={nodes} />}
            <Panel title="Nodes">
              <NodeTable
                nodes={nodes}
                hasGateways={gateways.length > 1}
                onAdd={() => setIsAdding(true)}
                onChange={setChosen}
                onEdit={onEdit}
                onRemove={onRemove}
              />
            </Panel>
            <Panel title="Gateways" note="Gateway processes that reported recently.">
              <GatewayTable gateways={gateways} />
            </Panel>
          </>
        )}
      </Pending>
      {isAdding ? <AddDialog onDone={() => setIsAdding(false)} /> : null}
      {toEdit === undefined ? null : <ChangeDialog node={toEdit} onDone={() => setEdited(null)} />}
      {pendingRemoval === null ? null : (
        <RemoveDialog
          {...pendingRemoval}
          isLast={isOnlyActive(upstreams.data?.nodes ?? [], pendingRemoval.node)}
          isLastGeyser={
            pendingRemoval.node.network === service.network &&
            isOnlyGeyser(upstreams.data?.nodes ?? [], pendingRemoval.node)
          }
          onDone={() => setPendingRemoval(null)}
        />
      )}
      {chosen === null ? null : (
        <CordonDialog
          node={chosen}
          isLast={isLastOf(upstreams.data?.nodes ?? [], chosen)}
          onDone={() => setChosen(null)}
        />
      )}
    </Page>
  );
}

type PendingRemoval = Readonly<{ node: NodeJson; removal: NodeRemoval }>;

function NodeTiles({ nodes }: { nodes: readonly NodeJson[] }) {
  const healthy = nodes.filter(
    ({ state, cordoned, drained }) => state === 'healthy' && !cordoned && !drained,
  );
  const slots = nodes.flatMap(({ slot }) => (slot === null ? [] : [Number(slot)]));
  const lags = nodes.flatMap(({ lagSlots }) => (lagSlots === null ? [] : [Number(lagSlots)]));
  const latencies = healthy.flatMap(({ latencyMs }) => (latencyMs === null ? [] : [latencyMs]));
  const drained = nodes.filter((node) => node.drained).length;
  const cordoned = nodes.filter((node) => node.cordoned && !node.drained).length;
  const out = [cordoned && `${cordoned} cordoned`, drained && `${drained} drained`].filter(Boolean);
  return (
    <div className="tiles">
      <Tile
        label="Healthy nodes"
        value={`${healthy.length} of ${nodes.length}`}
        note={out.join(', ') || 'None cordoned or drained'}
      />
      <Tile label="Highest slot" value={slots.length === 0 ? '–' : formatCount(Math.max(...slots))} />
      <Tile
        label="Maximum lag"
        value={lags.length === 0 ? '–' : formatNumberOf(Math.max(0, ...lags), 'slot')}
      />
      <Tile
        label="Fastest healthy node"
        value={formatMs(latencies.length === 0 ? null : Math.min(...latencies))}
      />
      <Tile
        label="In flight"
        value={formatCount(nodes.reduce((sum, { inFlight }) => sum + inFlight, 0))}
        note="Requests awaiting a response"
      />
    </div>
  );
}

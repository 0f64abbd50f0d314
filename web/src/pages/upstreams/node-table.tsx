import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { NodeJson } from '../../../../src/control/api/contract/operator.ts';
import { capitalized, formatCount, formatMs, formatShare, formatSpan } from '../../format.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Menu } from '../../ui/menu.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { NodeStateChip, nodeStateOf } from './node-state-chip.tsx';
import type { NodeRemoval } from './remove-dialog.tsx';

const sources: Readonly<Record<NodeJson['source'], string>> = {
  file: 'Configuration',
  added: 'Dashboard',
  ledger: 'Embedded ledger',
};

const feedsOf = ({ hasWs, hasGrpc }: NodeJson): string =>
  [hasWs ? 'PubSub' : null, hasGrpc ? 'Geyser' : null].filter((feed) => feed !== null).join(', ') || 'None';

const number = (
  id: string,
  title: string,
  of: (node: NodeJson) => number | null,
  format: (value: number) => string,
): Column<NodeJson> => ({
  id,
  title,
  align: 'end',
  sortBy: of,
  csv: of,
  cell: (node) => {
    const value = of(node);
    return value === null ? '–' : format(value);
  },
});

const toNumber = (text: string | null): number | null => (text === null ? null : Number(text));

const columns: Column<NodeJson>[] = [
  {
    id: 'name',
    title: 'Node',
    cell: ({ name, network }) => (
      <span className="stacked-words node-name">
        <Link to="/upstreams/$node" params={{ node: name }}>
          {name}
        </Link>
        <span className="muted">{network}</span>
      </span>
    ),
    sortBy: ({ network, name }) => `${network} ${name}`,
    csv: ({ network, name }) => `${network}/${name}`,
  },
  {
    id: 'state',
    title: 'State',
    cell: ({ state, reason, cordoned, drained }) => (
      <span className="stacked-words node-state">
        <span className="row">
          <NodeStateChip state={state} />
          {/* The last node of a network stays in use, so its state is shown too. */}
          {cordoned && !drained && state !== 'cordoned' ? <NodeStateChip state="cordoned" /> : null}
        </span>
        {reason === null ? null : <span className="muted wrap-words">{capitalized(reason)}</span>}
      </span>
    ),
    sortBy: ({ state }) => nodeStateOf(state).label,
    csv: ({ state, reason }) => (reason === null ? state : `${state}: ${reason}`),
  },
  {
    id: 'source',
    title: 'Source',
    cell: ({ source }) => sources[source],
    sortBy: ({ source }) => sources[source],
    wideOnly: true,
  },
  {
    ...number('priority', 'Priority', ({ priority }) => priority ?? null, formatCount),
    wideOnly: true,
  },
  { ...number('weight', 'Weight', ({ weight }) => weight ?? null, formatCount), wideOnly: true },
  {
    id: 'methods',
    title: 'Methods',
    cell: ({ methods }) => <span className="wrap-words">{methods?.join(', ') ?? 'All'}</span>,
    sortBy: ({ methods }) => methods?.join(', ') ?? '',
    wideOnly: true,
  },
  { id: 'feeds', title: 'Streaming source', cell: feedsOf, sortBy: feedsOf, wideOnly: true },
  number('slot', 'Slot', ({ slot }) => toNumber(slot), formatCount),
  number('lag', 'Slots behind', ({ lagSlots }) => toNumber(lagSlots), formatCount),
  number('latency', 'Latency', ({ latencyMs }) => latencyMs, formatMs),
  {
    ...number('failed', 'Error rate', ({ failedShare }) => failedShare ?? null, formatShare),
    wideOnly: true,
  },
  {
    ...number('throttled', 'Throttled', ({ throttledShare }) => throttledShare ?? null, formatShare),
    wideOnly: true,
  },
  { ...number('flight', 'In flight', ({ inFlight }) => inFlight, formatCount), wideOnly: true },
  {
    ...number(
      'silent',
      'Last response',
      ({ silentMs }) => silentMs,
      (ms) => (ms < 1_000 ? 'now' : `${formatSpan(ms)} ago`),
    ),
    wideOnly: true,
  },
];

const gatewayColumn: Column<NodeJson> = {
  id: 'gateway',
  title: 'Gateway',
  wideOnly: true,
  cell: ({ gateway }) => <span className="mono">{gateway}</span>,
  sortBy: ({ gateway }) => gateway,
  csv: ({ gateway }) => gateway,
};

export function NodeTable({
  nodes,
  hasGateways,
  onAdd,
  onChange,
  onEdit,
  onRemove,
}: {
  nodes: readonly NodeJson[];
  hasGateways: boolean;
  onAdd: () => void;
  onChange: (node: NodeJson) => void;
  onEdit: (node: NodeJson) => void;
  onRemove: (node: NodeJson, removal: NodeRemoval) => void;
}) {
  const all = useMemo<Column<NodeJson>[]>(
    () => [...columns, ...(hasGateways ? [gatewayColumn] : []), actionsColumn(onChange, onEdit, onRemove)],
    [hasGateways, onChange, onEdit, onRemove],
  );
  return (
    <Table
      caption="Nodes"
      columns={all}
      rows={nodes}
      rowKey={({ gateway, network, name }) => `${gateway} ${network} ${name}`}
      initialSort={{ column: 'name', down: false }}
      csvName="nodes"
      isStacked
      empty={
        <EmptyState
          title="No upstream nodes"
          snippet={'[[upstream]]\nnetwork = "devnet"\nname = "first"\nurl = "http://127.0.0.1:8899"'}
          action={
            <Button kind="primary" onClick={onAdd}>
              Add node
            </Button>
          }
        >
          Requests fail until a node is added, here or in the configuration file.
        </EmptyState>
      }
    />
  );
}

const actionsColumn = (
  onChange: (node: NodeJson) => void,
  onEdit: (node: NodeJson) => void,
  onRemove: (node: NodeJson, removal: NodeRemoval) => void,
): Column<NodeJson> => ({
  id: 'actions',
  title: 'Actions',
  hideTitle: true,
  align: 'end',
  cell: (node) => {
    const isOut = node.cordoned || node.drained;
    const name = `${node.name} (${node.network})`;
    return (
      <>
        {/* On a narrow screen, only the menu has it. */}
        <Button
          size="s"
          className="wide-only"
          onClick={() => (isOut ? onChange(node) : onRemove(node, 'drain'))}
        >
          {isOut ? 'Uncordon' : 'Drain'}
          <span className="visually-hidden"> {name}</span>
        </Button>{' '}
        <Menu
          label={`Actions for ${name}`}
          button={<Icon name="more" />}
          buttonProps={{ kind: 'quiet', className: 'icon-button' }}
          align="end"
          items={[
            { label: isOut ? 'Uncordon' : 'Cordon', onSelect: () => onChange(node) },
            { label: 'Drain', disabled: node.drained, onSelect: () => onRemove(node, 'drain') },
            ...(node.source === 'added'
              ? [
                  { label: 'Edit', onSelect: () => onEdit(node) },
                  { label: 'Remove', danger: true, onSelect: () => onRemove(node, 'remove') },
                ]
              : []),
          ]}
        />
      </>
    );
  },
});

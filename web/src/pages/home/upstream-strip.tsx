import { Link } from '@tanstack/react-router';
import { capitalized, formatCount, formatMs, formatNumberOf } from '../../format.ts';
import { useCall } from '../../queries.ts';
import { FormError } from '../../ui/field.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { NodeStateChip } from '../upstreams/node-state-chip.tsx';

const REFETCH_MS = 5_000;

export function UpstreamStrip() {
  const upstreams = useCall('GET /upstreams', {}, { refetchMs: REFETCH_MS });
  const hasNetworks = new Set(upstreams.data?.nodes.map(({ network }) => network)).size > 1;
  return (
    <Panel title="Upstreams" aside={<Link to="/upstreams">View all</Link>}>
      <FormError problem={upstreams.error} />
      {upstreams.data === undefined && upstreams.error === null ? <Skeleton lines={3} /> : null}
      <ul className="nodes">
        {upstreams.data?.nodes.map((node) => (
          <li key={`${node.gateway} ${node.network} ${node.name}`}>
            <span className="row-apart">
              <span>
                <Link to="/upstreams/$node" params={{ node: node.name }}>
                  {node.name}
                </Link>
                {hasNetworks ? <span className="muted"> {node.network}</span> : null}
              </span>
              <NodeStateChip state={node.state} />
            </span>
            <span className="muted">
              {node.slot === null ? 'slot unknown' : `slot ${formatCount(Number(node.slot))}`}
              {node.lagSlots === null || node.lagSlots === '0'
                ? ''
                : `, ${formatNumberOf(Number(node.lagSlots), 'slot')} behind`}
              {node.latencyMs === null ? '' : `, ${formatMs(node.latencyMs)}`}
            </span>
            {node.reason === null ? null : <span>{capitalized(node.reason)}</span>}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

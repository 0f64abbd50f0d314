import type { MetricsText } from '../../base/text/metrics-text.ts';
import type { NodeStatus } from '../../upstream/node-status.ts';

type Row = readonly [name: string, help: string, read: (node: NodeStatus) => number | null];

/** Name, help and value of each metric. */
const gauges: readonly Row[] = [
  ['solway_upstream_healthy', 'Whether the node is healthy.', ({ state }) => Number(state === 'healthy')],
  ['solway_upstream_cordoned', 'Whether an operator cordoned the node.', (node) => Number(node.cordoned)],
  ['solway_upstream_slot', 'Newest reported slot.', ({ slot }) => (slot === null ? null : Number(slot))],
  [
    'solway_upstream_lag_slots',
    'Slots behind the most advanced node of the network.',
    ({ lagSlots }) => (lagSlots === null ? null : Number(lagSlots)),
  ],
  [
    'solway_upstream_latency_seconds',
    'Moving average of the latency.',
    ({ latencyMs }) => (latencyMs === null ? null : latencyMs / 1_000),
  ],
  ['solway_upstream_in_flight', 'Calls in progress.', ({ inFlight }) => inFlight],
  ['solway_upstream_failures_in_row', 'Consecutive failures.', (node) => node.failuresInRow],
  [
    'solway_upstream_unreplayed_slots',
    'Slots received but not replayed.',
    ({ unreplayedSlots }) => (unreplayedSlots === null ? null : Number(unreplayedSlots)),
  ],
  ['solway_upstream_failed_share', 'Share of recent calls that failed.', ({ failedShare }) => failedShare],
  [
    'solway_upstream_throttled_share',
    'Share of recent calls that were throttled.',
    ({ throttledShare }) => throttledShare,
  ],
  [
    'solway_upstream_p70_seconds',
    '70th percentile of recent response times.',
    ({ p70Ms }) => (p70Ms === null ? null : p70Ms / 1_000),
  ],
  [
    'solway_upstream_requests_left',
    'Requests left in the rate limit of the node, if it has one.',
    ({ requestsLeft }) => requestsLeft,
  ],
];

const counters: readonly Row[] = [
  [
    'solway_upstream_hedges_total',
    'Hedged calls sent because another node was slow.',
    ({ hedges }) => hedges,
  ],
  ['solway_upstream_copies_total', 'Mirrored calls that test recovery.', ({ copies }) => copies],
];

/** Node metrics by name and network. */
export function writeUpstreamMetrics(text: MetricsText, nodes: readonly NodeStatus[]): void {
  for (const [name, help, read] of [...gauges, ...counters]) {
    text.family(name, name.endsWith('_total') ? 'counter' : 'gauge', help);
    for (const node of nodes) {
      const value = read(node);
      if (value !== null) text.sample(name, value, { node: node.name, network: node.network });
    }
  }
}

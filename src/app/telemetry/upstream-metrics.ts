import type { MetricsText } from '../../base/text/metrics-text.ts';
import type { NodeStatus } from '../../upstream/node-status.ts';

type Row = readonly [name: string, help: string, read: (node: NodeStatus) => number | null];

/** Name, help and value of each metric. */
const gauges: readonly Row[] = [
  ['solway_upstream_healthy', 'Whether the node is healthy.', ({ state }) => Number(state === 'healthy')],
  [
    'solway_upstream_cordoned',
    'Whether the operator took it out of service.',
    (node) => Number(node.cordoned),
  ],
  [
    'solway_upstream_slot',
    'The newest slot that it reported.',
    ({ slot }) => (slot === null ? null : Number(slot)),
  ],
  [
    'solway_upstream_lag_slots',
    'Slots behind the best of its network.',
    ({ lagSlots }) => (lagSlots === null ? null : Number(lagSlots)),
  ],
  [
    'solway_upstream_latency_seconds',
    'Moving average of its latency.',
    ({ latencyMs }) => (latencyMs === null ? null : latencyMs / 1_000),
  ],
  ['solway_upstream_in_flight', 'Calls that it is answering.', ({ inFlight }) => inFlight],
  ['solway_upstream_failures_in_row', 'Failures since its last answer.', (node) => node.failuresInRow],
  [
    'solway_upstream_unreplayed_slots',
    'Slots that it has received and not replayed.',
    ({ unreplayedSlots }) => (unreplayedSlots === null ? null : Number(unreplayedSlots)),
  ],
  [
    'solway_upstream_failed_share',
    'The share of its last calls that failed.',
    ({ failedShare }) => failedShare,
  ],
  [
    'solway_upstream_throttled_share',
    'The share of its last calls that it throttled.',
    ({ throttledShare }) => throttledShare,
  ],
  [
    'solway_upstream_p70_seconds',
    'Within which most of its last answers came.',
    ({ p70Ms }) => (p70Ms === null ? null : p70Ms / 1_000),
  ],
  [
    'solway_upstream_requests_left',
    'What it may be asked now, where that is limited.',
    ({ requestsLeft }) => requestsLeft,
  ],
];

const counters: readonly Row[] = [
  [
    'solway_upstream_hedges_total',
    'Calls that were put to it because another node was late.',
    ({ hedges }) => hedges,
  ],
  ['solway_upstream_copies_total', 'Copies of calls that it was tried with.', ({ copies }) => copies],
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

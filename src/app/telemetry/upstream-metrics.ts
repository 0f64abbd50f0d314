import type { MetricsText } from '../../base/text/metrics-text.ts';
import { attemptBoundsSeconds } from '../../upstream/health/attempt-counts.ts';
import type { NodeStatus } from '../../upstream/node-status.ts';

type Row = readonly [name: string, help: string, read: (node: NodeStatus) => number | bigint | null];

/** For each metric: name without prefix, help text, and a function that reads its value (null: not reported). */
const rows: readonly Row[] = [
  ['healthy', 'Whether the node is healthy.', ({ state }) => Number(state === 'healthy')],
  ['cordoned', 'Whether an operator cordoned the node.', ({ cordoned }) => Number(cordoned)],
  ['slot', 'Newest reported slot.', ({ slot }) => slot],
  ['lag_slots', 'Slots behind the most advanced node of the network.', ({ lagSlots }) => lagSlots],
  ['latency_seconds', 'Moving average of the latency.', ({ latencyMs }) => secondsOf(latencyMs)],
  ['in_flight', 'Calls in progress.', ({ inFlight }) => inFlight],
  ['failures_in_row', 'Consecutive failures.', ({ failuresInRow }) => failuresInRow],
  ['unreplayed_slots', 'Slots received but not replayed.', ({ unreplayedSlots }) => unreplayedSlots],
  ['failed_share', 'Share of recent calls that failed.', ({ failedShare }) => failedShare],
  ['throttled_share', 'Share of recent calls that were throttled.', ({ throttledShare }) => throttledShare],
  ['p70_seconds', '70th percentile of recent response times.', ({ p70Ms }) => secondsOf(p70Ms)],
  [
    'requests_left',
    'Requests left in the rate limit of the node, if it has one.',
    (node) => node.requestsLeft,
  ],
  ['hedges_total', 'Hedged calls sent because another node was slow.', ({ hedges }) => hedges],
  ['copies_total', 'Mirrored calls that test recovery.', ({ copies }) => copies],
];

const secondsOf = (ms: number | null): number | null => (ms === null ? null : ms / 1_000);

export function writeUpstreamMetrics(text: MetricsText, nodes: readonly NodeStatus[]): void {
  for (const [suffix, help, read] of rows) {
    const name = `solway_upstream_${suffix}`;
    text.family(name, name.endsWith('_total') ? 'counter' : 'gauge', help);
    for (const node of nodes) {
      const value = read(node);
      if (value !== null) text.sample(name, Number(value), labelsOf(node));
    }
  }
  writeCalls(text, nodes);
}

const labelsOf = ({ name, network }: NodeStatus) => ({ node: name, network });

/** Writes only outcomes that occurred. */
function writeCalls(text: MetricsText, nodes: readonly NodeStatus[]): void {
  const requests = 'solway_upstream_requests_total';
  text.family(requests, 'counter', 'Calls to the node, without polls.');
  for (const node of nodes)
    for (const [outcome, count] of Object.entries(node.counts.byKind))
      if (count > 0 || outcome === 'ok') text.sample(requests, count, { ...labelsOf(node), outcome });
  const duration = 'solway_upstream_request_duration_seconds';
  text.family(duration, 'histogram', 'Response time of the node, without scans.');
  for (const node of nodes) {
    const { buckets, seconds } = node.counts.durations;
    text.histogram(duration, labelsOf(node), attemptBoundsSeconds, buckets, seconds);
  }
}

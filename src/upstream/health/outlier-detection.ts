import type { UpstreamLimits } from '../limits.ts';
import type { NodeHealth } from './node-health.ts';
import type { EjectionReason } from './node-state.ts';

type EjectionLimits = Pick<
  UpstreamLimits,
  'ejectionAttemptsMin' | 'failedShareMax' | 'throttledShareMax' | 'slowMs'
>;

/** Latency quantile used to compare nodes. */
const LATENCY_SHARE = 0.7;
const SLOW_FACTOR = 3;

const hasEnoughAttempts = (node: NodeHealth, { ejectionAttemptsMin }: EjectionLimits, now: number): boolean =>
  node.recent.attempts(now) >= ejectionAttemptsMin;

/** null if there were too few attempts. */
const latencyOf = (node: NodeHealth, limits: EjectionLimits, now: number): number | null =>
  hasEnoughAttempts(node, limits, now) ? node.recent.latencyMs(LATENCY_SHARE, now) : null;

function medianLatencyOfOthers(
  nodes: readonly NodeHealth[],
  one: NodeHealth,
  limits: EjectionLimits,
  now: number,
): number | null {
  const latencies = nodes
    .filter((node) => node !== one)
    .map((node) => latencyOf(node, limits, now))
    .filter((ms) => ms !== null)
    .sort((a, b) => a - b);
  return latencies[Math.floor((latencies.length - 1) / 2)] ?? null;
}

function ejectionReasonFor(
  node: NodeHealth,
  nodes: readonly NodeHealth[],
  limits: EjectionLimits,
  now: number,
): EjectionReason | null {
  if (!hasEnoughAttempts(node, limits, now)) return null;
  if ((node.recent.failedShare(now) ?? 0) > limits.failedShareMax) return 'failing';
  if ((node.recent.throttledShare(now) ?? 0) > limits.throttledShareMax) return 'throttling';
  const own = latencyOf(node, limits, now);
  if (own === null || own <= limits.slowMs) return null;
  const others = medianLatencyOfOthers(nodes, node, limits, now);
  return others !== null && own > SLOW_FACTOR * others ? 'slow' : null;
}

/** Ejects nodes whose failure ratio, throttling ratio or latency is too high; re-admits nodes that have recovered. */
export function updateEjections(nodes: readonly NodeHealth[], limits: EjectionLimits, now: number): void {
  for (const node of nodes) {
    const { ejection } = node;
    const wasEjected = ejection.reason !== null;
    if (ejection.review(node.isCurrent(now), now)) node.recent.reset();
    if (wasEjected) continue;
    const reason = ejectionReasonFor(node, nodes, limits, now);
    if (reason !== null) ejection.eject(reason, now);
  }
}

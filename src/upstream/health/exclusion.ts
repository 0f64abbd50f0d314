import type { NodeHealth } from './node-health.ts';
import type { Exclusion } from './node-state.ts';

/** What decides whether a node is passed over for what became of its calls. */
export type ExclusionLimits = Readonly<{
  exclusionAttemptsMin: number;
  failedShareMax: number;
  throttledShareMax: number;
  slowMs: number;
}>;

/** The share of answers whose slowest is looked at. */
const LATENCY_SHARE = 0.7;
/** Slower than the others is who takes so many times as long. */
const SLOWER = 3;

const hasEnough = (node: NodeHealth, { exclusionAttemptsMin }: ExclusionLimits, now: number): boolean =>
  node.recent.attempts(now) >= exclusionAttemptsMin;

/** The latency of a node's calls; null where too few are known. */
const pace = (node: NodeHealth, limits: ExclusionLimits, now: number): number | null =>
  hasEnough(node, limits, now) ? node.recent.latencyMs(LATENCY_SHARE, now) : null;

/** The middle one of the others' latencies; null where none is known. */
function paceOfOthers(
  nodes: readonly NodeHealth[],
  one: NodeHealth,
  limits: ExclusionLimits,
  now: number,
): number | null {
  const paces = nodes
    .filter((node) => node !== one)
    .map((node) => pace(node, limits, now))
    .filter((ms) => ms !== null)
    .sort((a, b) => a - b);
  return paces[Math.floor((paces.length - 1) / 2)] ?? null;
}

function reasonAgainst(
  node: NodeHealth,
  nodes: readonly NodeHealth[],
  limits: ExclusionLimits,
  now: number,
): Exclusion | null {
  if (!hasEnough(node, limits, now)) return null;
  if ((node.recent.failedShare(now) ?? 0) > limits.failedShareMax) return 'failing';
  if ((node.recent.throttledShare(now) ?? 0) > limits.throttledShareMax) return 'throttling';
  const own = pace(node, limits, now);
  if (own === null || own <= limits.slowMs) return null;
  const others = paceOfOthers(nodes, node, limits, now);
  return others !== null && own > SLOWER * others ? 'slow' : null;
}

/**
 * Ejects nodes for the share of their calls that failed or were throttled, and for taking much longer than the others;
 * and re-admits those that answer polls or copies of calls well.
 */
export function markExclusions(nodes: readonly NodeHealth[], limits: ExclusionLimits, now: number): void {
  for (const node of nodes) {
    const { ejection } = node;
    const wasEjected = ejection.reason !== null;
    if (ejection.review(node.isCurrent(now), now)) node.recent.forget();
    if (wasEjected) continue;
    const reason = reasonAgainst(node, nodes, limits, now);
    if (reason !== null) ejection.eject(reason, now);
  }
}

import type { NodeHealth } from './node-health.ts';
import type { Exclusion } from './node-state.ts';

/** What decides whether a node is passed over for what became of its calls. */
export type ExclusionLimits = Readonly<{
  exclusionAttemptsMin: number;
  failedShareMax: number;
  throttledShareMax: number;
  slowMs: number;
  exclusionMaxMs: number;
  readmitAnswersMin: number;
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

/** Whether one that is out has earned its way back, or was out for as long as anybody is. */
function isDone(node: NodeHealth, limits: ExclusionLimits, now: number): boolean {
  if (node.goodAnswers >= limits.readmitAnswersMin) return true;
  return now - node.excludedAt > limits.exclusionMaxMs;
}

/**
 * Takes nodes out of service for the share of their calls that failed or were throttled, and for taking much longer
 * than the others; and puts back those that answered copies of calls well.
 */
export function markExclusions(nodes: readonly NodeHealth[], limits: ExclusionLimits, now: number): void {
  for (const node of nodes) {
    if (node.exclusion !== null) {
      if (isDone(node, limits, now)) node.readmit();
      continue;
    }
    node.exclusion = reasonAgainst(node, nodes, limits, now);
    if (node.exclusion === null) continue;
    node.excludedAt = now;
    node.goodAnswers = 0;
  }
}

import type { UpstreamNode } from './node.ts';

/** Unknown nodes count as quick, so that they get known; not as free, or a burst would all go to one of them. */
const UNKNOWN_LATENCY_MS = 1;

/** What asking this node now would roughly cost: its latency, times those who wait already. */
const burden = (node: UpstreamNode): number => (node.inFlight + 1) * (node.latencyMs ?? UNKNOWN_LATENCY_MS);

/**
 * One of the nodes: the better of two drawn at random, so that load spreads and a slow node gets less.
 * @param random - uniform in [0, 1).
 * @returns null when there are none.
 */
export function chooseNode(
  nodes: readonly UpstreamNode[],
  random: () => number = Math.random,
): UpstreamNode | null {
  if (nodes.length < 2) return nodes[0] ?? null;
  const first = Math.floor(random() * nodes.length);
  const step = 1 + Math.floor(random() * (nodes.length - 1));
  const one = nodes[first]!;
  const other = nodes[(first + step) % nodes.length]!;
  return burden(other) < burden(one) ? other : one;
}

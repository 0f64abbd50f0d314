import type { UpstreamNode } from '../node.ts';
import { beginsRound } from './next-node.ts';
import type { Walk } from './walk.ts';

/** A pause grows to this and no further: a node that comes back is found soon. */
const PAUSE_MAX_MS = 250;

/** Milliseconds until the first resting node may be asked; null when none rests. */
export function restLeft(nodes: readonly UpstreamNode[]): number | null {
  const now = performance.now();
  const rests = nodes.filter((node) => node.isResting(now)).map((node) => node.restingUntil - now);
  return rests.length === 0 ? null : Math.min(...rests);
}

/** Milliseconds until the first budget that is spent allows a request; null when none is. */
export function budgetLeft(nodes: readonly UpstreamNode[]): number | null {
  const now = performance.now();
  const waits = nodes.filter((node) => node.isSpent(now)).map((node) => node.budget?.waitMs(now) ?? 0);
  return waits.length === 0 ? null : Math.min(...waits);
}

/** How long to wait before a node is asked that has failed already: 0 while its round goes on. */
export function roundPauseMs(walk: Walk, next: UpstreamNode): number {
  if (!beginsRound(walk, next)) return 0;
  const ms = Math.max(1, walk.limits.backoffMs) * 2 ** walk.pauses++;
  return Math.min(ms, PAUSE_MAX_MS) * (0.5 + Math.random());
}

/** How long to wait for a node that rests; null where none does, or not soon enough, or something was said already. */
export function restPauseMs(walk: Walk): number | null {
  const rest = walk.best === null ? restLeft(walk.nodes) : null;
  if (rest === null || rest > walk.limits.restWaitMaxMs) return null;
  return rest + 1 + Math.random() * walk.limits.backoffMs;
}

/** How long a node is waited for before a second one is asked besides: for honest heavy work as long as a light read may take. */
export function hedgeAfterMs({ nature, limits, call }: Walk, node: UpstreamNode): number {
  return nature.hedged ? node.latencies.hedgeAfterMs(call.row) : limits.attemptTimeoutMs;
}

/** How long one attempt may take. */
export function timeoutOf({ deadline, nature, limits, best }: Walk, now: number): number {
  const left = deadline - now;
  const { attemptTimeoutMs, sendAttemptTimeoutMs, hedgeMaxMs } = limits;
  let most = nature.signed ? Math.min(attemptTimeoutMs, sendAttemptTimeoutMs) : attemptTimeoutMs;
  // Somebody said that there is nothing: that is not held back for long.
  if (best?.errorCode === 0) most = Math.min(most, hedgeMaxMs);
  return Math.max(1, nature.takesAllTheTime ? left : Math.min(left, most));
}

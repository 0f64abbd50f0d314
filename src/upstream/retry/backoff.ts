import type { UpstreamNode } from '../node.ts';
import type { RetryState } from './retry-state.ts';
import { startsRound } from './select-node.ts';

/** A pause grows to this and no further: a node that comes back is found soon. */
const BACKOFF_MAX_MS = 250;

/** Milliseconds until the first resting node may be asked; null when none rests. */
export function throttleRemainingMs(nodes: readonly UpstreamNode[]): number | null {
  const now = performance.now();
  const remaining = nodes.filter((node) => node.isThrottled(now)).map((node) => node.throttledUntil - now);
  return remaining.length === 0 ? null : Math.min(...remaining);
}

/** Milliseconds until the first budget that is spent allows a request; null when none is. */
export function budgetWaitMs(nodes: readonly UpstreamNode[]): number | null {
  const now = performance.now();
  const waits = nodes.filter((node) => node.isOverBudget(now)).map((node) => node.budget?.waitMs(now) ?? 0);
  return waits.length === 0 ? null : Math.min(...waits);
}

/** How long to wait before a node is asked that has failed already: 0 while its round goes on. */
export function roundBackoffMs(state: RetryState, next: UpstreamNode): number {
  if (!startsRound(state, next)) return 0;
  const ms = Math.max(1, state.limits.backoffMs) * 2 ** state.backoffs++;
  return Math.min(ms, BACKOFF_MAX_MS) * (0.5 + Math.random());
}

/** How long to wait for a node that rests; null where none does, or not soon enough, or something was said already. */
export function throttleWaitMs(state: RetryState): number | null {
  const throttleMs = state.best === null ? throttleRemainingMs(state.nodes) : null;
  if (throttleMs === null || throttleMs > state.limits.restWaitMaxMs) return null;
  return throttleMs + 1 + Math.random() * state.limits.backoffMs;
}

/** How long a node is waited for before a second one is asked besides: for honest heavy work as long as a light read may take. */
export function hedgeAfterMs({ traits, limits, call }: RetryState, node: UpstreamNode): number {
  return traits.hedged ? node.latencies.hedgeAfterMs(call.row) : limits.attemptTimeoutMs;
}

/** How long one attempt may take. */
export function timeoutOf({ deadline, traits, limits, best }: RetryState, now: number): number {
  const remainingMs = deadline - now;
  const { attemptTimeoutMs, sendAttemptTimeoutMs, hedgeMaxMs } = limits;
  let limitMs = traits.signed ? Math.min(attemptTimeoutMs, sendAttemptTimeoutMs) : attemptTimeoutMs;
  // Somebody said that there is nothing: that is not held back for long.
  if (best?.errorCode === 0) limitMs = Math.min(limitMs, hedgeMaxMs);
  return Math.max(1, traits.takesAllTheTime ? remainingMs : Math.min(remainingMs, limitMs));
}

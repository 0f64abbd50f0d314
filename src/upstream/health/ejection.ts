import { createHistogram, mergeHistogram, quantile } from '../../base/histogram.ts';
import type { UpstreamLimits } from '../limits.ts';
import type { Outcome } from '../outcome.ts';
import { type AttemptKind, AttemptTotals } from './attempt-totals.ts';
import type { EjectionReason } from './node-state.ts';

/** Sliding window over a node's attempts. It has two halves, so it covers between half and all of `windowMs`. */
export class RecentOutcomes {
  readonly #limits: Pick<UpstreamLimits, 'windowMs'>;
  #current = new AttemptTotals();
  #before = new AttemptTotals();
  #rotatedAt = 0;

  constructor(limits: Pick<UpstreamLimits, 'windowMs'>) {
    this.#limits = limits;
  }

  /** @param elapsedMs - latency; null if it says nothing about the node. */
  record(kind: AttemptKind, elapsedMs: number | null, now: number): void {
    if (now - this.#rotatedAt >= this.#limits.windowMs / 2) this.#rotate(now);
    this.#current.record(kind, elapsedMs);
  }

  attempts(now: number): number {
    this.#rotate(now);
    return this.#current.attempts + this.#before.attempts;
  }

  failedShare(now: number): number | null {
    return this.#shareOf('failed', now);
  }

  throttledShare(now: number): number | null {
    return this.#shareOf('throttled', now);
  }

  #shareOf(kind: 'failed' | 'throttled', now: number): number | null {
    const attempts = this.attempts(now);
    return attempts === 0 ? null : (this.#current[kind] + this.#before[kind]) / attempts;
  }

  /** Latency quantile; null if no latencies were recorded. */
  latencyMs(share: number, now: number): number | null {
    this.#rotate(now);
    const both = createHistogram();
    mergeHistogram(both, this.#current.latencies);
    mergeHistogram(both, this.#before.latencies);
    const microseconds = quantile(both, share);
    return microseconds === null ? null : microseconds / 1_000;
  }

  reset(): void {
    this.#current = new AttemptTotals();
    this.#before = new AttemptTotals();
  }

  #rotate(now: number): void {
    const halfMs = this.#limits.windowMs / 2;
    const since = now - this.#rotatedAt;
    if (since < halfMs) return;
    const isOutdated = since >= 2 * halfMs;
    this.#before = isOutdated ? new AttemptTotals() : this.#current;
    this.#current = new AttemptTotals();
    this.#rotatedAt = now;
  }
}

export const isNodeFault = (status: number): boolean =>
  status >= 500 || status === 401 || status === 403 || status === 404;

/** @returns null if the attempt says nothing about the node. */
export function attemptKindOf(outcome: Outcome, elapsedMs: number | null): AttemptKind | null {
  switch (outcome.kind) {
    case 'response':
      return 'succeeded';
    case 'status':
      if (outcome.status === 429) return 'throttled';
      return isNodeFault(outcome.status) ? 'failed' : null;
    case 'invalid':
      return 'failed';
    case 'transport':
      return outcome.timedOut && elapsedMs === null ? null : 'failed';
    default:
      return null;
  }
}

/** Each relapse doubles the number of polls required, up to this factor. */
const POLLS_FACTOR_MAX = 16;

export type EjectionLimits = Pick<
  UpstreamLimits,
  'ejectionMaxMs' | 'readmitSuccessesMin' | 'readmitPollsMin' | 'slowMs'
>;

/**
 * Ejection state of a node. Successful calls re-admit the node for good. Successful polls or the passage of time only
 * put it on probation, during which one bad call ejects it again.
 */
export class Ejection {
  readonly #limits: EjectionLimits;
  reason: EjectionReason | null = null;
  #probation: EjectionReason | null = null;
  #changedAt = 0;
  #successfulCalls = 0;
  #successfulPolls = 0;
  #relapses = 0;

  constructor(limits: EjectionLimits) {
    this.#limits = limits;
  }

  eject(reason: EjectionReason, now: number): void {
    if (this.#probation !== null) this.#relapses++;
    this.reason = reason;
    this.#probation = null;
    this.#restart(now);
  }

  noteCall(kind: AttemptKind, elapsedMs: number | null, now: number): void {
    const isSlow = (elapsedMs ?? 0) > this.#limits.slowMs;
    if (kind === 'succeeded' && !isSlow) {
      this.#successfulCalls++;
      return;
    }
    this.#successfulCalls = 0;
    this.#successfulPolls = 0;
    if (this.#probation === null) return;
    if (kind === 'failed') this.eject('failing', now);
    else if (kind === 'throttled') this.eject('throttling', now);
    else if (this.#probation === 'slow') this.eject('slow', now);
  }

  notePoll(isGood: boolean): void {
    this.#successfulPolls = isGood ? this.#successfulPolls + 1 : 0;
  }

  /** Re-admits the node or ends its probation when due. @returns whether it was re-admitted. */
  review(isCurrent: boolean, now: number): boolean {
    const isProven = this.#successfulCalls >= this.#limits.readmitSuccessesMin;
    const isLongAgo = now - this.#changedAt > this.#limits.ejectionMaxMs;
    if (this.reason === null) {
      if (this.#probation !== null && (isProven || isLongAgo)) this.#clear();
      return false;
    }
    if (isProven) {
      this.#clear();
      return true;
    }
    if (!isLongAgo && !(isCurrent && this.#successfulPolls >= this.#pollsNeeded)) return false;
    this.#probation = this.reason;
    this.reason = null;
    this.#restart(now);
    return true;
  }

  get #pollsNeeded(): number {
    return this.#limits.readmitPollsMin * Math.min(2 ** this.#relapses, POLLS_FACTOR_MAX);
  }

  #restart(now: number): void {
    this.#changedAt = now;
    this.#successfulCalls = 0;
    this.#successfulPolls = 0;
  }

  #clear(): void {
    this.reason = null;
    this.#probation = null;
    this.#relapses = 0;
    this.#successfulCalls = 0;
  }
}

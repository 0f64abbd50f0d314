import { bucketOf, createHistogram, mergeHistogram, quantile } from '../../base/histogram.ts';
import type { UpstreamLimits } from '../limits.ts';
import type { Outcome } from '../outcome.ts';
import type { EjectionReason } from './node-state.ts';

/** What counts of an attempt: it was answered, it failed, or the node asked to be left alone. */
export type AttemptKind = 'answered' | 'failed' | 'throttled';

/** Half a window: attempts and the latencies of those that were answered. */
class WindowHalf {
  attempts = 0;
  failed = 0;
  throttled = 0;
  readonly latencies = createHistogram();

  clear(): void {
    this.attempts = 0;
    this.failed = 0;
    this.throttled = 0;
    this.latencies.fill(0);
  }
}

/** What became of the calls that a node was asked in the last while, in two halves that take turns. */
export class RecentOutcomes {
  readonly #limits: Readonly<{ windowMs: number }>;
  #current = new WindowHalf();
  #before = new WindowHalf();
  #rotatedAt = 0;

  /** @param limits - of which `windowMs` is what is looked back on: between a half of it and all. */
  constructor(limits: Readonly<{ windowMs: number }>) {
    this.#limits = limits;
  }

  record(kind: AttemptKind, now: number): void {
    this.#rotate(now);
    this.#current.attempts++;
    if (kind === 'failed') this.#current.failed++;
    else if (kind === 'throttled') this.#current.throttled++;
  }

  recordLatency(elapsedMs: number): void {
    const bucket = bucketOf(elapsedMs * 1_000);
    this.#current.latencies[bucket] = (this.#current.latencies[bucket] ?? 0) + 1;
  }

  /** Attempts of the last while. */
  attempts(now: number): number {
    this.#rotate(now);
    return this.#current.attempts + this.#before.attempts;
  }

  /** The share of them that failed; null without any. */
  failedShare(now: number): number | null {
    const attempts = this.attempts(now);
    return attempts === 0 ? null : (this.#current.failed + this.#before.failed) / attempts;
  }

  /** The share of them at which the node asked to be left alone; null without any. */
  throttledShare(now: number): number | null {
    const attempts = this.attempts(now);
    return attempts === 0 ? null : (this.#current.throttled + this.#before.throttled) / attempts;
  }

  /** Milliseconds within which a share of the answers came; null without any. */
  latencyMs(share: number, now: number): number | null {
    this.#rotate(now);
    const both = createHistogram();
    mergeHistogram(both, this.#current.latencies);
    mergeHistogram(both, this.#before.latencies);
    const microseconds = quantile(both, share);
    return microseconds === null ? null : microseconds / 1_000;
  }

  /** What was is no longer held against the node. */
  reset(): void {
    this.#current.clear();
    this.#before.clear();
  }

  #rotate(now: number): void {
    const halfMs = this.#limits.windowMs / 2;
    const since = now - this.#rotatedAt;
    if (since < halfMs) return;
    const cleared = this.#before;
    this.#before = this.#current;
    this.#current = cleared;
    cleared.clear();
    // Nobody asked for longer than a window: neither half is of the last while.
    if (since >= 2 * halfMs) this.#before.clear();
    this.#rotatedAt = now;
  }
}

/** Statuses that are the node's doing, whatever it was asked. */
export const isNodeFault = (status: number): boolean =>
  status >= 500 || status === 401 || status === 403 || status === 404;

/**
 * What an attempt says about the node it was made at; null when it says nothing.
 * @param elapsedMs - null when the time it took speaks about the question and not about the node.
 */
export function attemptKindOf(outcome: Outcome, elapsedMs: number | null): AttemptKind | null {
  switch (outcome.kind) {
    case 'answer':
      return 'answered';
    case 'status':
      if (outcome.status === 429) return 'throttled';
      return isNodeFault(outcome.status) ? 'failed' : null;
    case 'garbage':
      return 'failed';
    case 'transport':
      return outcome.timedOut && elapsedMs === null ? null : 'failed';
    default:
      return null;
  }
}

/** Each relapse doubles the polls that a node must answer, up to this many times. */
const POLLS_FACTOR_MAX = 16;

export type EjectionLimits = Pick<
  UpstreamLimits,
  'exclusionMaxMs' | 'readmitAnswersMin' | 'readmitPollsMin' | 'slowMs'
>;

/**
 * Why a node is ejected, and what re-admits it: good answers re-admit it for good; answered polls and time only on
 * probation, in which a single failed call ejects it again. Times are milliseconds on any steady clock.
 */
export class Ejection {
  readonly #limits: EjectionLimits;
  #reason: EjectionReason | null = null;
  /** Why it was ejected before it was re-admitted on probation; null when it is not on probation. */
  #probation: EjectionReason | null = null;
  /** When it was last ejected or re-admitted. */
  #changedAt = 0;
  #goodAnswers = 0;
  #goodPolls = 0;
  #relapses = 0;

  /** @param limits - read at each use. */
  constructor(limits: EjectionLimits) {
    this.#limits = limits;
  }

  /** Null while it is not ejected. */
  get reason(): EjectionReason | null {
    return this.#reason;
  }

  eject(reason: EjectionReason, now: number): void {
    if (this.#probation !== null) this.#relapses++;
    this.#reason = reason;
    this.#probation = null;
    this.#restart(now);
  }

  /** Takes in how a call, or a copy of one, ended. */
  noteCall(kind: AttemptKind, elapsedMs: number | null, now: number): void {
    const isSlow = (elapsedMs ?? 0) > this.#limits.slowMs;
    if (kind === 'answered' && !isSlow) {
      this.#goodAnswers++;
      return;
    }
    this.#goodAnswers = 0;
    this.#goodPolls = 0;
    if (this.#probation === null) return;
    if (kind === 'failed') this.eject('failing', now);
    else if (kind === 'throttled') this.eject('throttling', now);
    else if (this.#probation === 'slow') this.eject('slow', now);
  }

  notePoll(isGood: boolean): void {
    this.#goodPolls = isGood ? this.#goodPolls + 1 : 0;
  }

  /**
   * Re-admits the node, or ends its probation, when that is due.
   * @param isCurrent - its slots are within the allowed lag.
   * @returns whether it was re-admitted.
   */
  review(isCurrent: boolean, now: number): boolean {
    const isProven = this.#goodAnswers >= this.#limits.readmitAnswersMin;
    const isLongAgo = now - this.#changedAt > this.#limits.exclusionMaxMs;
    if (this.#reason === null) {
      if (this.#probation !== null && (isProven || isLongAgo)) this.#clear();
      return false;
    }
    if (isProven) {
      this.#clear();
      return true;
    }
    if (!isLongAgo && !(isCurrent && this.#goodPolls >= this.#pollsNeeded)) return false;
    this.#probation = this.#reason;
    this.#reason = null;
    this.#restart(now);
    return true;
  }

  get #pollsNeeded(): number {
    return this.#limits.readmitPollsMin * Math.min(2 ** this.#relapses, POLLS_FACTOR_MAX);
  }

  #restart(now: number): void {
    this.#changedAt = now;
    this.#goodAnswers = 0;
    this.#goodPolls = 0;
  }

  #clear(): void {
    this.#reason = null;
    this.#probation = null;
    this.#relapses = 0;
    this.#goodAnswers = 0;
  }
}

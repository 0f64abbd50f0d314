import type { UpstreamLimits } from '../limits.ts';
import type { EjectionReason } from './node-state.ts';
import type { AttemptKind } from './recent-outcomes.ts';

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

import type { UpstreamLimits } from './limits.ts';

export type CircuitLimits = Pick<UpstreamLimits, 'circuitFailuresMax' | 'circuitOpenMs'>;

const OPEN_MULTIPLIER_MAX = 8;

/**
 * Circuit breaker: closed → (consecutive failures) → open → (time) → half-open with one trial → closed, or
 * open for twice as long.
 */
export class CircuitBreaker {
  readonly #limits: CircuitLimits;
  consecutiveFailures = 0;
  /** Open or half-open. */
  isTripped = false;
  #lastOpenForMs = 0;
  #openUntil = 0;
  #isProbing = false;

  constructor(limits: CircuitLimits) {
    this.#limits = limits;
  }

  isOpen(now: number): boolean {
    return this.isTripped && (now < this.#openUntil || this.#isProbing);
  }

  /** In the half-open state, makes this request the trial. */
  recordStart(now: number): void {
    if (this.isTripped && now >= this.#openUntil) this.#isProbing = true;
  }

  recordSuccess(): void {
    this.consecutiveFailures = 0;
    this.isTripped = false;
    this.#lastOpenForMs = 0;
    this.#isProbing = false;
  }

  /** A successful poll closes the circuit, but the first failed call reopens it for twice as long. */
  recordPollSuccess(): void {
    if (!this.isTripped) return;
    this.consecutiveFailures = this.#limits.circuitFailuresMax - 1;
    this.isTripped = false;
    this.#isProbing = false;
  }

  recordFailure(now: number): void {
    this.consecutiveFailures++;
    this.#isProbing = false;
    if (this.consecutiveFailures < this.#limits.circuitFailuresMax || now < this.#openUntil) return;
    this.#open(now);
  }

  #open(now: number): void {
    const first = this.#limits.circuitOpenMs;
    const openForMs = Math.min(Math.max(first, this.#lastOpenForMs * 2), first * OPEN_MULTIPLIER_MAX);
    this.#lastOpenForMs = openForMs;
    this.isTripped = openForMs > 0;
    this.#openUntil = now + openForMs;
  }

  /** Records a request that ended without showing whether the node works. */
  release(): void {
    this.#isProbing = false;
  }
}

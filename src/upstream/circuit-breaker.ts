/** Counts failures in a row; after too many the node is left alone, then tried with a single request. */
export type CircuitLimits = Readonly<{ circuitFailuresMax: number; circuitOpenMs: number }>;

/** A node that stays away is left alone for at most this many times `circuitOpenMs`. */
const OPEN_MULTIPLIER_MAX = 8;

/**
 * A circuit breaker. Times are milliseconds on any steady clock, handed in by the caller.
 * closed → (failures in a row) → open → (time) → half-open: one trial → closed, or open for twice as long.
 */
export class CircuitBreaker {
  readonly #limits: CircuitLimits;
  #failures = 0;
  #openForMs = 0;
  /** How long it was open the last time; 0 when a call has succeeded since. */
  #lastOpenForMs = 0;
  #openUntil = 0;
  #isProbing = false;

  constructor(limits: CircuitLimits) {
    this.#limits = limits;
  }

  get consecutiveFailures(): number {
    return this.#failures;
  }

  /** Whether it has tripped and not yet been closed by a success. */
  get isTripped(): boolean {
    return this.#openForMs > 0;
  }

  /** Whether requests should keep away: open, or half-open with the trial under way. */
  isOpen(now: number): boolean {
    return this.#openForMs > 0 && (now < this.#openUntil || this.#isProbing);
  }

  /** A request is on its way; in the half-open state it is the trial. */
  recordStart(now: number): void {
    if (this.#openForMs > 0 && now >= this.#openUntil) this.#isProbing = true;
  }

  recordSuccess(): void {
    this.#failures = 0;
    this.#openForMs = 0;
    this.#lastOpenForMs = 0;
    this.#isProbing = false;
  }

  /** A health poll closes it, but proves nothing about calls: the first that fails opens it again, for twice as long. */
  pollSucceeded(): void {
    if (!this.isTripped) return;
    this.#failures = this.#limits.circuitFailuresMax - 1;
    this.#openForMs = 0;
    this.#isProbing = false;
  }

  recordFailure(now: number): void {
    this.#failures++;
    this.#isProbing = false;
    if (this.#failures < this.#limits.circuitFailuresMax) return;
    if (now < this.#openUntil) return;
    const first = this.#limits.circuitOpenMs;
    this.#openForMs = Math.min(Math.max(first, this.#lastOpenForMs * 2), first * OPEN_MULTIPLIER_MAX);
    this.#lastOpenForMs = this.#openForMs;
    this.#openUntil = now + this.#openForMs;
  }

  /** The request ended without saying anything about the node. */
  release(): void {
    this.#isProbing = false;
  }
}

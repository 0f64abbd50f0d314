export type CircuitLimits = Readonly<{ circuitFailuresMax: number; circuitOpenMs: number }>;

/** Maximum open time as a multiple of `circuitOpenMs`. */
const OPEN_MULTIPLIER_MAX = 8;

/**
 * Circuit breaker: closed → (consecutive failures) → open → (time) → half-open with one trial → closed, or
 * open for twice as long. Times are milliseconds of a monotonic clock passed in.
 */
export class CircuitBreaker {
  readonly #limits: CircuitLimits;
  #failures = 0;
  #openForMs = 0;
  #lastOpenForMs = 0;
  #openUntil = 0;
  #isProbing = false;

  constructor(limits: CircuitLimits) {
    this.#limits = limits;
  }

  get consecutiveFailures(): number {
    return this.#failures;
  }

  get isTripped(): boolean {
    return this.#openForMs > 0;
  }

  isOpen(now: number): boolean {
    return this.#openForMs > 0 && (now < this.#openUntil || this.#isProbing);
  }

  /** In the half-open state this request is the trial. */
  recordStart(now: number): void {
    if (this.#openForMs > 0 && now >= this.#openUntil) this.#isProbing = true;
  }

  recordSuccess(): void {
    this.#failures = 0;
    this.#openForMs = 0;
    this.#lastOpenForMs = 0;
    this.#isProbing = false;
  }

  /** A successful poll closes the circuit, but the first failed call reopens it for twice as long. */
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

  /** The request ended without a verdict about the node. */
  release(): void {
    this.#isProbing = false;
  }
}

import { Lru } from '../../base/cache/lru.ts';
import { Failure } from '../../protocol/errors.ts';

type AttemptState = { failures: number; inProgress: number; blockedUntil: number; updatedAt: number };

/** The first method call settles the attempt; further calls have no effect. */
export type Attempt = Readonly<{
  succeed(): void;
  fail(): void;
  discard(): void;
}>;

export type AttemptLimits = Readonly<{
  /** Failed attempts before the first pause. */
  freeAttempts: number;
  /** Pause after the last free attempt; doubles with each further failure. */
  firstPauseMs: number;
  pauseMaxMs: number;
  /** How long failures are remembered after the last one. */
  rememberMs: number;
  rememberedMax: number;
}>;

const DOUBLINGS_MAX = 30;

/**
 * Limits attempts to guess a secret, per name. After `freeAttempts` failures, attempts are rejected during a pause,
 * before any hashing. Each further failure doubles the pause. Attempts in progress count as failures.
 */
export class AttemptLimiter {
  readonly #limits: AttemptLimits;
  readonly #now: () => number;
  readonly #states: Lru<string, AttemptState>;

  constructor(limits: AttemptLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
    this.#states = new Lru(limits.rememberedMax);
  }

  /** Starts an attempt. @throws Failure TOO_MANY_TRIES */
  start(name: string): Attempt {
    const now = this.#now();
    const state = this.#stateOf(name, now);
    const { freeAttempts } = this.#limits;
    if (now < state.blockedUntil) throw this.#tooManyAttempts(state.blockedUntil - now);
    if (state.inProgress >= Math.max(1, freeAttempts - state.failures)) throw this.#tooManyAttempts(0);
    state.inProgress++;
    this.#states.set(name, state);
    let isSettled = false;
    const settleWith = (action: () => void) => (): void => {
      if (isSettled) return;
      isSettled = true;
      action();
      this.#finish(name, state);
    };
    return {
      succeed: settleWith(() => {
        state.failures = 0;
      }),
      fail: settleWith(() => this.#recordFailure(state)),
      discard: settleWith(() => undefined),
    };
  }

  #stateOf(name: string, now: number): AttemptState {
    const state = this.#states.get(name);
    const isOld =
      state !== undefined && state.inProgress === 0 && now - state.updatedAt >= this.#limits.rememberMs;
    const isNew = state === undefined || isOld;
    return isNew ? { failures: 0, inProgress: 0, blockedUntil: 0, updatedAt: now } : state;
  }

  #finish(name: string, state: AttemptState): void {
    state.inProgress--;
    if (state.failures === 0 && state.inProgress === 0 && this.#states.get(name) === state)
      this.#states.delete(name);
  }

  #recordFailure(state: AttemptState): void {
    const { freeAttempts, firstPauseMs, pauseMaxMs } = this.#limits;
    state.updatedAt = this.#now();
    const excessFailures = ++state.failures - freeAttempts;
    if (excessFailures < 0) return;
    const backoffMs = Math.min(firstPauseMs * 2 ** Math.min(excessFailures, DOUBLINGS_MAX), pauseMaxMs);
    state.blockedUntil = state.updatedAt + backoffMs;
  }

  #tooManyAttempts(waitMs: number): Failure {
    return new Failure('TOO_MANY_TRIES', { retryAfter: Math.max(1, Math.ceil(waitMs / 1_000)) });
  }
}

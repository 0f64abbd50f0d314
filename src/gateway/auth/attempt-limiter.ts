import { Lru } from '../../base/cache/lru.ts';
import { Failure } from '../../protocol/errors.ts';

type AttemptState = { failures: number; inProgress: number; blockedUntil: number; updatedAt: number };

/** A try under way. The first of the three ends it; the others then do nothing. */
export type Attempt = Readonly<{
  succeed(): void;
  fail(): void;
  /** It ended before anybody knew. */
  discard(): void;
}>;

/** How often passwords may be tried, and how long wrong ones count. */
export type AttemptLimits = Readonly<{
  /** Wrong tries before there is a pause. */
  freeTries: number;
  /** The pause after the last of them, in milliseconds; each one more doubles it. */
  firstPauseMs: number;
  pauseMaxMs: number;
  /** How long wrong ones count, in milliseconds. */
  rememberMs: number;
  /** Names that are remembered at a time. */
  rememberedMax: number;
}>;

const DOUBLINGS_MAX = 30;
const NEW = { failures: 0, inProgress: 0, blockedUntil: 0, updatedAt: 0 } as const;

/**
 * How often passwords may be tried. A few wrong ones are free; then each one more makes the next wait longer, and a try
 * that comes too early is refused before anything is computed. Tries at once count as if they came one after the other.
 * In the memory of one process: a restart forgets, which no caller can bring about, and several count each for itself.
 */
export class AttemptLimiter {
  readonly #limits: AttemptLimits;
  readonly #now: () => number;
  readonly #states: Lru<string, AttemptState>;

  /** @param now - a clock, milliseconds. */
  constructor(limits: AttemptLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
    this.#states = new Lru(limits.rememberedMax);
  }

  /** Begins a try at what the name stands for. @throws Failure TOO_MANY_TRIES */
  start(name: string): Attempt {
    const now = this.#now();
    const state = this.#stateOf(name, now);
    const { freeTries } = this.#limits;
    if (now < state.blockedUntil) throw this.#tooManyAttempts(state.blockedUntil - now);
    if (state.inProgress >= Math.max(1, freeTries - state.failures)) throw this.#tooManyAttempts(0);
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
    return state === undefined || isOld ? { ...NEW, updatedAt: now } : state;
  }

  #finish(name: string, state: AttemptState): void {
    state.inProgress--;
    if (state.failures === 0 && state.inProgress === 0 && this.#states.get(name) === state)
      this.#states.delete(name);
  }

  #recordFailure(state: AttemptState): void {
    const { freeTries, firstPauseMs, pauseMaxMs } = this.#limits;
    state.updatedAt = this.#now();
    const paid = ++state.failures - freeTries;
    if (paid < 0) return;
    const pauseMs = Math.min(firstPauseMs * 2 ** Math.min(paid, DOUBLINGS_MAX), pauseMaxMs);
    state.blockedUntil = state.updatedAt + pauseMs;
  }

  #tooManyAttempts(waitMs: number): Failure {
    return new Failure('TOO_MANY_TRIES', { retryAfter: Math.max(1, Math.ceil(waitMs / 1_000)) });
  }
}

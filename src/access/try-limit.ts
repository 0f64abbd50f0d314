import { Lru } from '../base/lru.ts';
import { Failure } from '../protocol/errors.ts';

type Tried = { wrong: number; underWay: number; until: number; at: number };

/** A try under way. The first of the three ends it; the others then do nothing. */
export type Try = Readonly<{
  right(): void;
  wrong(): void;
  /** It ended before anybody knew. */
  void(): void;
}>;

/** How often passwords may be tried, and how long wrong ones count. */
export type TryLimits = Readonly<{
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
const NEW = { wrong: 0, underWay: 0, until: 0, at: 0 } as const;

/**
 * How often passwords may be tried. A few wrong ones are free; then each one more makes the next wait longer, and a try
 * that comes too early is refused before anything is computed. Tries at once count as if they came one after the other.
 * In the memory of one process: a restart forgets, which no caller can bring about, and several count each for itself.
 */
export class TryLimit {
  readonly #limits: TryLimits;
  readonly #now: () => number;
  readonly #tried: Lru<string, Tried>;

  /** @param now - a clock, milliseconds. */
  constructor(limits: TryLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
    this.#tried = new Lru(limits.rememberedMax);
  }

  /** Begins a try at what the name stands for. @throws Failure TOO_MANY_TRIES */
  begin(name: string): Try {
    const now = this.#now();
    const tried = this.#remembered(name, now);
    const { freeTries } = this.#limits;
    if (now < tried.until) throw this.#tooMany(tried.until - now);
    if (tried.underWay >= Math.max(1, freeTries - tried.wrong)) throw this.#tooMany(0);
    tried.underWay++;
    this.#tried.set(name, tried);
    let ended = false;
    const endWith = (note: () => void) => (): void => {
      if (ended) return;
      ended = true;
      note();
      this.#end(name, tried);
    };
    return {
      right: endWith(() => {
        tried.wrong = 0;
      }),
      wrong: endWith(() => this.#count(tried)),
      void: endWith(() => undefined),
    };
  }

  #remembered(name: string, now: number): Tried {
    const tried = this.#tried.get(name);
    const isOld = tried !== undefined && tried.underWay === 0 && now - tried.at >= this.#limits.rememberMs;
    return tried === undefined || isOld ? { ...NEW, at: now } : tried;
  }

  #end(name: string, tried: Tried): void {
    tried.underWay--;
    if (tried.wrong === 0 && tried.underWay === 0 && this.#tried.get(name) === tried)
      this.#tried.delete(name);
  }

  #count(tried: Tried): void {
    const { freeTries, firstPauseMs, pauseMaxMs } = this.#limits;
    tried.at = this.#now();
    const paid = ++tried.wrong - freeTries;
    if (paid < 0) return;
    const pauseMs = Math.min(firstPauseMs * 2 ** Math.min(paid, DOUBLINGS_MAX), pauseMaxMs);
    tried.until = tried.at + pauseMs;
  }

  #tooMany(waitMs: number): Failure {
    return new Failure('TOO_MANY_TRIES', { retryAfter: Math.max(1, Math.ceil(waitMs / 1_000)) });
  }
}

import { bucketOf, createHistogram, quantile } from '../../base/histogram.ts';
import type { MethodRow } from '../../protocol/methods.ts';

/** The share of calls that may be hedged, and how many may be in a row after a calm while. */
export type HedgeLimits = Readonly<{ hedgeShare: number; hedgeBurst: number }>;

/** Bounds hedges to a share of the calls that might be hedged. */
export class HedgeBudget {
  readonly #limits: HedgeLimits;
  #tokens: number;

  /** @param limits - read at each use: they may change. */
  constructor(limits: HedgeLimits) {
    this.#limits = limits;
    this.#tokens = limits.hedgeBurst;
  }

  /** A call begins that might be hedged. */
  earn(): void {
    this.#tokens = Math.min(this.#limits.hedgeBurst, this.#tokens + this.#limits.hedgeShare);
  }

  /** @returns whether a hedge may be made. */
  spend(): boolean {
    if (this.#limits.hedgeShare <= 0 || this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}

/** A call that waits for a node, and may be put to a second one. The links are those of the rounds alone. */
export interface HedgeCandidate {
  previousCandidate: HedgeCandidate | null;
  nextCandidate: HedgeCandidate | null;
  /** Looks whether it has waited long enough. */
  checkHedge(now: number): void;
}

/** How exact a hedge is in time; far below the least that is waited for. */
const TICK_MS = 20;
/** So many rounds without anybody, and there are none until somebody comes. */
const IDLE_TICKS_MAX = 50;

/**
 * Looks at all calls that are under way, all together and fifty times a second: a timer for each would cost every
 * call what only few need.
 */
export class HedgeTimer {
  #newest: HedgeCandidate | null = null;
  #timer: NodeJS.Timeout | null = null;
  #idleTicks = 0;

  add(call: HedgeCandidate): void {
    call.previousCandidate = this.#newest;
    if (this.#newest !== null) this.#newest.nextCandidate = call;
    this.#newest = call;
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
  }

  /** Does no harm where it is not there any more. */
  remove(call: HedgeCandidate): void {
    if (call.nextCandidate !== null) call.nextCandidate.previousCandidate = call.previousCandidate;
    else if (this.#newest === call) this.#newest = call.previousCandidate;
    if (call.previousCandidate !== null) call.previousCandidate.nextCandidate = call.nextCandidate;
    call.previousCandidate = null;
    call.nextCandidate = null;
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #tick(): void {
    this.#idleTicks = this.#newest === null ? this.#idleTicks + 1 : 0;
    if (this.#idleTicks > IDLE_TICKS_MAX) this.stop();
    const now = performance.now();
    let call = this.#newest;
    while (call !== null) {
      // It may leave while it looks.
      const { previousCandidate } = call;
      call.checkHedge(now);
      call = previousCandidate;
    }
  }
}

/** With fewer answers than this nothing is known of a method at a node. */
const COUNTED_MIN = 20;
/** The quantile is read anew after so many answers. */
const READ_EVERY = 32;
/** With so many the old ones lose half of their weight. */
const COUNTED_MAX = 2_048;

/** How long the answers of one method took at one node. */
class MethodLatency {
  readonly #counts = createHistogram();
  #counted = 0;
  #sinceRead = 0;
  #quantileMs: number | null = null;

  get quantileMs(): number | null {
    return this.#quantileMs;
  }

  /** @param share - of answers that come sooner than the one that is waited for no longer. */
  record(elapsedMs: number, share: number): void {
    const bucket = bucketOf(elapsedMs * 1_000);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#counted++;
    if (++this.#sinceRead >= READ_EVERY || this.#counted === COUNTED_MIN) this.#read(share);
  }

  #read(share: number): void {
    this.#sinceRead = 0;
    if (this.#counted < COUNTED_MIN) return;
    const microseconds = quantile(this.#counts, share);
    this.#quantileMs = microseconds === null ? null : microseconds / 1_000;
    if (this.#counted >= COUNTED_MAX) this.#halve();
  }

  #halve(): void {
    let counted = 0;
    for (let bucket = 0; bucket < this.#counts.length; bucket++) {
      const half = (this.#counts[bucket] ?? 0) >>> 1;
      this.#counts[bucket] = half;
      counted += half;
    }
    this.#counted = counted;
  }
}

/** What decides after which time a call is put to a second node. */
export type HedgeDelays = Readonly<{ hedgeQuantile: number; hedgeMinMs: number; hedgeMaxMs: number }>;

/** How long the answers of one node took, by method. As many as there are rows in the table of methods. */
export class MethodLatencies {
  readonly #delays: HedgeDelays;
  readonly #ofMethod = new Map<MethodRow, MethodLatency>();

  constructor(delays: HedgeDelays) {
    this.#delays = delays;
  }

  /** An answer took so long, or one that was no longer waited for at least so long. */
  record(row: MethodRow, elapsedMs: number): void {
    let latency = this.#ofMethod.get(row);
    if (latency === undefined) {
      latency = new MethodLatency();
      this.#ofMethod.set(row, latency);
    }
    latency.record(elapsedMs, this.#delays.hedgeQuantile);
  }

  /** How long an answer to this method is waited for before another node is asked too. */
  hedgeAfterMs(row: MethodRow): number {
    const { hedgeMinMs, hedgeMaxMs } = this.#delays;
    const observed = this.#ofMethod.get(row)?.quantileMs ?? hedgeMaxMs;
    return Math.max(hedgeMinMs, Math.min(observed, hedgeMaxMs));
  }
}

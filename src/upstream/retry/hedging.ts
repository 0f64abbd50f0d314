import { bucketOf, createHistogram, quantile } from '../../base/histogram.ts';
import type { MethodRow } from '../../protocol/methods.ts';
import type { UpstreamLimits } from '../limits.ts';

type HedgeLimits = Pick<UpstreamLimits, 'hedgeRatio' | 'hedgeBurst'>;

/** Token bucket that limits hedges to a share of the calls that may be hedged. */
export class HedgeBudget {
  readonly #limits: HedgeLimits;
  #tokens: number;

  constructor(limits: HedgeLimits) {
    this.#limits = limits;
    this.#tokens = limits.hedgeBurst;
  }

  earn(): void {
    this.#tokens = Math.min(this.#limits.hedgeBurst, this.#tokens + this.#limits.hedgeRatio);
  }

  spend(): boolean {
    if (this.#limits.hedgeRatio <= 0 || this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}

/** The links to other candidates are used only by HedgeTimer. */
export interface HedgeCandidate {
  previousCandidate: HedgeCandidate | null;
  nextCandidate: HedgeCandidate | null;
  checkHedge(now: number): void;
}

const TICK_MS = 20;
const IDLE_TICKS_MAX = 50;

/**
 * Checks all hedgeable calls in flight every 20 ms with one timer, since a timer per call would cost more.
 * `RetryExecutor.checkHedge` decides whether to hedge.
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
      // `checkHedge` may remove the call.
      const { previousCandidate } = call;
      call.checkHedge(now);
      call = previousCandidate;
    }
  }
}

const COUNTED_MIN = 20;
const READ_EVERY = 32;
const COUNTED_MAX = 2_048;

class MethodLatency {
  readonly #counts = createHistogram();
  #counted = 0;
  #sinceRead = 0;
  quantileMs: number | null = null;

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
    this.quantileMs = microseconds === null ? null : microseconds / 1_000;
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

type HedgeDelays = Pick<UpstreamLimits, 'hedgeQuantile' | 'hedgeMinMs' | 'hedgeMaxMs'>;

/** Latency of each method at one node. */
export class MethodLatencies {
  readonly #delays: HedgeDelays;
  readonly #ofMethod = new Map<MethodRow, MethodLatency>();

  constructor(delays: HedgeDelays) {
    this.#delays = delays;
  }

  /** @param elapsedMs - latency; for a superseded attempt, a lower bound. */
  record(row: MethodRow, elapsedMs: number): void {
    let latency = this.#ofMethod.get(row);
    if (latency === undefined) {
      latency = new MethodLatency();
      this.#ofMethod.set(row, latency);
    }
    latency.record(elapsedMs, this.#delays.hedgeQuantile);
  }

  hedgeAfterMs(row: MethodRow): number {
    const { hedgeMinMs, hedgeMaxMs } = this.#delays;
    const observed = this.#ofMethod.get(row)?.quantileMs ?? hedgeMaxMs;
    return Math.max(hedgeMinMs, Math.min(observed, hedgeMaxMs));
  }
}

import type { CallAttempt, CallTrace, ServedFrom } from './call.ts';

/** A step of a request's way. Milliseconds since the request was there, to the microsecond. */
export type RequestStep = Readonly<{
  /** `authenticate`, `limit`, `queue`, `upstream`, or what made an upstream's answer unnecessary (`Spared`). */
  name: string;
  /** The node, of an upstream attempt. */
  node: string | null;
  startMs: number;
  endMs: number;
  /** `ok`, or what it came to in a few words. Holds nothing that a client or a node sent. */
  outcome: string;
}>;

/** A shorter wait is none. */
const WAIT_MIN_MS = 1;

const toMicros = (ms: number): number => Math.round(ms * 1_000) / 1_000;

/**
 * One request that is watched on its way. Made for sampled requests only, at their start.
 * Times are `performance.now()` unless said otherwise.
 */
export class RequestTrace implements CallTrace {
  /** When it began, in Unix milliseconds. */
  readonly at = Date.now();
  readonly startedAt: number;
  /** Whether the request log keeps it, whatever it comes to. */
  readonly isRetained: boolean;
  /** Where it belongs among the spans of others; null when nobody collects them. */
  readonly link: TraceLink | null;
  readonly steps: RequestStep[] = [];
  /** The node that was asked last. */
  node: string | null = null;
  readonly #stepsMax: number;

  constructor(startedAt: number, stepsMax: number, isRetained: boolean, link: TraceLink | null) {
    this.startedAt = startedAt;
    this.#stepsMax = stepsMax;
    this.isRetained = isRetained;
    this.link = link;
  }

  /** It waited for its turn since then; of a moment nothing is said. */
  recordQueueTime(since: number): void {
    const now = performance.now();
    if (now - since >= WAIT_MIN_MS) this.#add('queue', null, since, now, 'ok');
  }

  onAttempt({ node, startedAt, endedAt, outcome }: CallAttempt): void {
    this.node = node;
    this.#add('upstream', node, startedAt, endedAt, outcome);
  }

  onServedFrom(from: ServedFrom, startedAt: number): void {
    this.#add(from, null, startedAt, performance.now(), 'ok');
  }

  /**
   * The steps in their order, with the gates before them that it passed or was refused at.
   * @param authenticatedAt - when it was known whose it is; null: it never was.
   * @param limitedAt - when it had passed its limits; null: it never did.
   * @param failure - how it ended, if it did not end well.
   */
  stepsWith(
    authenticatedAt: number | null,
    limitedAt: number | null,
    failure: string | null,
    endedAt: number,
  ): RequestStep[] {
    if (authenticatedAt === null) {
      return [this.#step('authenticate', null, this.startedAt, endedAt, failure ?? 'ok')];
    }
    const first = this.#step('authenticate', null, this.startedAt, authenticatedAt, 'ok');
    const isRefused = limitedAt === null && this.steps.length === 0 && failure !== null;
    const passedAt = limitedAt ?? (isRefused ? endedAt : authenticatedAt);
    const outcome = isRefused ? failure : 'ok';
    return [first, this.#step('limit', null, authenticatedAt, passedAt, outcome), ...this.steps];
  }

  #add(name: string, node: string | null, start: number, end: number, outcome: string): void {
    if (this.steps.length < this.#stepsMax) this.steps.push(this.#step(name, node, start, end, outcome));
  }

  #step(name: string, node: string | null, start: number, end: number, outcome: string): RequestStep {
    const startMs = Math.max(0, toMicros(start - this.startedAt));
    return { name, node, startMs, endMs: Math.max(startMs, toMicros(end - this.startedAt)), outcome };
  }
}

/** Where a request belongs in a trace of the W3C's Trace Context. Ids are lower-case hex. */
export type TraceLink = Readonly<{
  traceId: string;
  /** The span of whoever asked; null for a trace that begins here. */
  parentId: string | null;
}>;

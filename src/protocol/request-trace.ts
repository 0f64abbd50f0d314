import type { CallTrace, ServedFrom } from './call.ts';
import type { CallAttempt } from './errors.ts';

/** One step of a request. Times are milliseconds since the request arrived, with microsecond precision. */
export type RequestStep = Readonly<{
  /** `authenticate`, `limit`, `queue`, `upstream`, or a ServedFrom. */
  name: string;
  node: string | null;
  startMs: number;
  endMs: number;
  /** `ok` or a short description. Contains nothing sent by a client or a node. */
  outcome: string;
}>;

const WAIT_MIN_MS = 1;

const toMicros = (ms: number): number => Math.round(ms * 1_000) / 1_000;

/** Times are on the `performance.now()` clock unless noted. */
export class RequestTrace implements CallTrace {
  /** Unix milliseconds. */
  readonly at = Date.now();
  readonly startedAt: number;
  /** Whether the request log keeps the trace regardless of the result. */
  readonly isRetained: boolean;
  readonly link: TraceLink | null;
  readonly steps: RequestStep[] = [];
  node: string | null = null;
  readonly #stepsMax: number;

  constructor(startedAt: number, stepsMax: number, isRetained: boolean, link: TraceLink | null) {
    this.startedAt = startedAt;
    this.#stepsMax = stepsMax;
    this.isRetained = isRetained;
    this.link = link;
  }

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

  /** All steps. `authenticatedAt`, `limitedAt`: when the check passed, or null. `failure`: null on success. */
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

/** W3C Trace Context; ids in lower-case hex. */
export type TraceLink = Readonly<{
  traceId: string;
  /** Span id of the caller; null for a new trace. */
  parentId: string | null;
}>;

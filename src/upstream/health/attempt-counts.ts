import { isThrottling, type Outcome } from '../outcome.ts';

/** Upper bounds of the latency buckets in seconds; an implicit +Inf bucket follows. */
export const attemptBoundsSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/**
 * In this order: a result, a JSON-RPC error, HTTP 429, another HTTP error, an unusable response, a timeout, a failed
 * connection, and an attempt that was canceled, or superseded by another node.
 */
export const attemptKinds = [
  'ok',
  'rpcError',
  'throttled',
  'httpError',
  'invalid',
  'timeout',
  'connection',
  'canceled',
] as const;
type AttemptKind = (typeof attemptKinds)[number];

const kindIndex = Object.fromEntries(attemptKinds.map((kind, index) => [kind, index])) as Readonly<
  Record<AttemptKind, number>
>;

function kindOf(outcome: Outcome): AttemptKind {
  switch (outcome.kind) {
    case 'response':
      return outcome.response.errorCode === 0 ? 'ok' : 'rpcError';
    case 'status':
      return isThrottling(outcome) ? 'throttled' : 'httpError';
    case 'transport':
      return outcome.timedOut ? 'timeout' : 'connection';
    case 'aborted':
      return 'canceled';
    default:
      return 'invalid';
  }
}

/** Calls sent to one node since it was configured, without polls. Counting allocates nothing. */
export class AttemptCounts {
  readonly #kinds = new Float64Array(attemptKinds.length);
  readonly #latency = new Float64Array(attemptBoundsSeconds.length + 1);
  #seconds = 0;

  /** @param elapsedMs - null for scans, whose duration says little about the node. */
  record(outcome: Outcome, elapsedMs: number | null): void {
    this.#count(kindOf(outcome));
    if (elapsedMs === null || outcome.kind !== 'response') return;
    const seconds = elapsedMs / 1_000;
    this.#seconds += seconds;
    let bucket = 0;
    while (bucket < attemptBoundsSeconds.length && seconds > attemptBoundsSeconds[bucket]!) bucket++;
    this.#latency[bucket] = this.#latency[bucket]! + 1;
  }

  recordSuperseded(): void {
    this.#count('canceled');
  }

  get byKind(): Readonly<Record<AttemptKind, number>> {
    return Object.fromEntries(attemptKinds.map((kind, index) => [kind, this.#kinds[index]!])) as Record<
      AttemptKind,
      number
    >;
  }

  /** Durations of calls that got a response, by bucket, and their sum in seconds. */
  get durations(): Readonly<{ buckets: readonly number[]; seconds: number }> {
    return { buckets: [...this.#latency], seconds: this.#seconds };
  }

  #count(kind: AttemptKind): void {
    const index = kindIndex[kind];
    this.#kinds[index] = this.#kinds[index]! + 1;
  }
}

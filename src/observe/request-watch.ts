import type { CountedKey } from '../access/usage.ts';
import type { Product } from '../protocol/product.ts';
import type { RequestTrace } from '../protocol/request-trace.ts';
import { DoorCounters } from './door-counters.ts';
import { type EndedRequest, RequestLog, type Visited } from './request-log.ts';

/** Sees every request begin and end: for the log, for spans and for the totals that /metrics shows. */
export class RequestWatch {
  readonly log: RequestLog;
  readonly counters: DoorCounters;

  constructor(log = new RequestLog(), counters = new DoorCounters()) {
    this.log = log;
    this.counters = counters;
  }

  /** @returns null for a request that nobody wants to hear of on its way. As `RequestLog.begin`. */
  begin(startedAt: number, traceparent: string | null): RequestTrace | null {
    return this.log.begin(startedAt, traceparent);
  }

  /** @param endedAt - `performance.now()`. */
  end(visit: Visited, ended: EndedRequest, endedAt: number): void {
    this.counters.count(visit.key, ended, (endedAt - visit.startedAt) / 1_000);
    this.log.end(visit, ended, endedAt);
  }

  /** Messages that were sent without asking again. */
  sent(key: CountedKey, product: Product, messages: number, bytes: number): void {
    this.counters.countMessages(key, product, messages, bytes);
  }
}

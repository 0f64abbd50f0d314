import type { Product } from '../../protocol/product.ts';
import type { RequestTrace } from '../../protocol/request-trace.ts';
import type { MeteredKey } from '../metering/usage-meter.ts';
import { RequestCounters } from './request-counters.ts';
import { type ObservedRequest, RequestLog, type RequestResult } from './request-log.ts';

/** Sees every request begin and end: for the log, for spans and for the totals that /metrics shows. */
export class RequestWatch {
  readonly log: RequestLog;
  readonly counters: RequestCounters;

  constructor(log = new RequestLog(), counters = new RequestCounters()) {
    this.log = log;
    this.counters = counters;
  }

  /** @returns null for a request that nobody wants to hear of on its way. As `RequestLog.begin`. */
  start(startedAt: number, traceparent: string | null): RequestTrace | null {
    return this.log.start(startedAt, traceparent);
  }

  /** @param endedAt - `performance.now()`. */
  end(request: ObservedRequest, result: RequestResult, endedAt: number): void {
    this.counters.count(request.key, result, (endedAt - request.startedAt) / 1_000);
    this.log.end(request, result, endedAt);
  }

  /** Messages that were sent without asking again. */
  recordMessages(key: MeteredKey, product: Product, messages: number, bytes: number): void {
    this.counters.countMessages(key, product, messages, bytes);
  }
}

import type { KeyRecord } from '../access/key-record.ts';
import type { RateDecision, RateLimiter } from '../access/rate-limit.ts';
import type { UsageMeter } from '../access/usage.ts';
import type { Logger } from '../base/log.ts';
import type { Answer, Call, Source } from '../protocol/call.ts';
import { Failure } from '../protocol/errors.ts';
import { methodRow } from '../protocol/methods.ts';
import type { Outcome, Request } from '../protocol/serve.ts';
import { explain, limited, statusOf } from './outcome.ts';

/** What a call meets once it is known whose it is. */
export type CallParts = Readonly<{
  limiter: RateLimiter;
  source: Source;
  usage: UsageMeter;
  log: Logger;
}>;

/** A call without the credential that it may have come with. */
export type KnownCall = Omit<Request, 'credential'>;

/**
 * The way of a call: identify, limit, route, forward, meter. Never rejects.
 * @param identify - whose it is. May throw a Failure, which is metered as the call's end.
 */
export type AnswerCall = (
  identify: () => KeyRecord,
  request: KnownCall,
  signal?: AbortSignal,
) => Promise<Outcome>;

/** The way that calls take, over whatever connection they came. It holds the only catch on it. */
export function createAnswerCall({ limiter, source, usage, log }: CallParts): AnswerCall {
  return async (identify, request, signal) => {
    const startedAt = performance.now();
    let key: KeyRecord | null = null;
    let rate: RateDecision | null = null;
    let answer: Answer | null = null;
    let failure: Failure | null = null;
    const call = route(request);
    try {
      key = identify();
      rate = limiter.take(key.familyId, key.limits, startedAt);
      if (rate !== null && !rate.allowed) throw limited(rate);
      answer = await source.ask(call, signal);
    } catch (thrown) {
      failure = explain(thrown);
      if (failure.code === 'INTERNAL') log.error({ err: failure.cause, keyId: key?.id }, 'a call went wrong');
    }
    usage.record(
      {
        key,
        product: request.product,
        method: request.method,
        status: statusOf(answer, failure),
        bytesIn: request.bytesIn,
        bytesOut: answer?.body.length ?? 0,
        credits: answer === null ? 0 : call.row.cost,
        latencyMicros: (performance.now() - startedAt) * 1000,
      },
      Date.now(),
    );
    const rateLimit = rate?.state ?? null;
    return failure === null && answer !== null
      ? { answer, failure: null, rateLimit }
      : { answer: null, failure: failure ?? new Failure('INTERNAL'), rateLimit };
  };
}

const route = ({ network, method, params }: KnownCall): Call => ({
  network,
  method,
  row: methodRow(method),
  params,
});

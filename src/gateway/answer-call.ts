import type { Admission } from '../access/admission.ts';
import type { Visit } from '../access/visit.ts';
import type { Logger } from '../base/log.ts';
import type { LiveConnections } from '../observe/live-connections.ts';
import type { Wire } from '../observe/request-log.ts';
import type { SubmissionLog } from '../observe/submission-log.ts';
import type { Answer, Call, CallTrace, Source } from '../protocol/call.ts';
import { Failure } from '../protocol/errors.ts';
import { methodRow } from '../protocol/methods.ts';
import type { LimitFacts, Outcome, Request } from '../protocol/serve.ts';
import { askFor } from './ask-for.ts';
import type { CallMeter } from './call-meter.ts';
import { explain, statusOf } from './outcome.ts';

/** What a call meets on its way. */
export type CallParts = Readonly<{
  admission: Admission;
  source: Source;
  meter: CallMeter;
  /** Who keeps what became of transactions; absent: nobody. */
  submissions?: SubmissionLog;
  /** Who lists long connections; absent: nobody. */
  connections?: LiveConnections;
  log: Logger;
}>;

/** A call without the credential that it may have come with. */
export type KnownCall = Omit<Request, 'credential' | 'client' | 'traceparent'>;

/**
 * The way of a call: identify, permit, limit, route, forward, meter. Never rejects.
 * @param identify - notes in the visit whose it is. May throw a Failure, which is metered as the call's end.
 */
export type AnswerCall = (
  visit: Visit,
  identify: (visit: Visit) => void,
  request: KnownCall,
  signal?: AbortSignal,
) => Promise<Outcome>;

/** The way that calls take, over whatever connection they came. It holds the only catch on it. */
export function createAnswerCall(parts: CallParts, wire: Wire): AnswerCall {
  const { admission, meter, log } = parts;
  return async (visit, identify, request, signal) => {
    let answer: Answer | null = null;
    let failure: Failure | null = null;
    const call = route(request, visit.trace);
    try {
      identify(visit);
      admission.permit(visit, request.method, call.row.cost);
      admission.takeRate(visit);
      answer = await askFor(parts, visit, call, signal);
    } catch (thrown) {
      failure = explain(thrown);
      const { key } = visit;
      if (failure.code === 'INTERNAL') log.error({ err: failure.cause, keyId: key?.id }, 'a call went wrong');
    }
    meter.end(visit, {
      wire,
      product: request.product,
      network: request.network,
      method: request.method,
      status: statusOf(answer, failure),
      failure,
      rpcCode: answer?.errorCode ?? 0,
      bytesIn: request.bytesIn,
      bytesOut: answer?.body.length ?? 0,
      params: request.params,
      result: answer?.body ?? null,
      cost: answer === null ? null : call.row.cost,
    });
    // Messages have no header fields: where limits are told there, they stand in the failure.
    const shown = wire === 'socket' ? nothingShown : admission.shown(visit);
    return failure === null && answer !== null
      ? { answer, failure: null, ...shown }
      : { answer: null, failure: failure ?? new Failure('INTERNAL'), ...shown };
  };
}

const nothingShown: LimitFacts = { rateLimit: null, quota: null };

const route = ({ network, method, params }: KnownCall, trace: CallTrace | null): Call => ({
  network,
  method,
  row: methodRow(method),
  params,
  trace,
});

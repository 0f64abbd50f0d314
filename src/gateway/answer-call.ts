import type { Admission } from '../access/admission.ts';
import type { Visit } from '../access/visit.ts';
import type { Logger } from '../base/log.ts';
import type { LiveConnections } from '../observe/live-connections.ts';
import type { Wire } from '../observe/request-log.ts';
import type { SubmissionLog } from '../observe/submission-log.ts';
import type { Answer, Asked, Asker, Call, CallTrace, DirectSource, Source } from '../protocol/call.ts';
import { asDirect } from '../protocol/direct-source.ts';
import { answerBytes, failureBytes, longAnswerBytes } from '../protocol/envelope-answer.ts';
import type { Failure } from '../protocol/errors.ts';
import type { LongAnswer, LongAsker } from '../protocol/long-answer.ts';
import { methodRow } from '../protocol/methods.ts';
import type { LimitFacts, Outcome, Replier, Request } from '../protocol/serve.ts';
import { putFor } from './ask-for.ts';
import type { CallMeter, Ending } from './call-meter.ts';
import { type LongMeter, MeteredLong } from './metered-long.ts';
import { explain, statusOf } from './outcome.ts';
import type { SlotSessions } from './slot-sessions.ts';

/** What a call meets on its way. */
export type CallParts = Readonly<{
  admission: Admission;
  source: Source;
  meter: CallMeter;
  /** Who keeps what became of transactions; absent: nobody. */
  submissions?: SubmissionLog;
  /** Who lists long connections; absent: nobody. */
  connections?: LiveConnections;
  /** What sessions were told of the chain; absent: none is kept from seeing it go back. */
  sessions?: SlotSessions;
  log: Logger;
}>;

/** A call without the credential that it may have come with. */
export type KnownCall = Omit<Request, 'credential' | 'client' | 'traceparent'>;

/** Notes in a visit whose it is. May throw a Failure, which is metered as the call's end. */
export type Identify = (visit: Visit) => void;

/** The way that calls take, over whatever connection they came. */
export class CallWay {
  readonly parts: CallParts;
  readonly wire: Wire;
  readonly source: DirectSource;

  constructor(parts: CallParts, wire: Wire) {
    this.parts = parts;
    this.wire = wire;
    this.source = asDirect(parts.source);
  }

  /** The way of a call: identify, permit, limit, route, forward, meter. */
  put(visit: Visit, identify: Identify, request: KnownCall, replier: Replier): Asked {
    const journey = new Journey(this, visit, request, replier);
    journey.begin(identify);
    return journey;
  }

  /** The same as a promise, which never rejects. */
  answer(visit: Visit, identify: Identify, request: KnownCall, signal?: AbortSignal): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const asked = this.put(visit, identify, request, { replied: resolve });
    if (signal === undefined) return promise;
    const leave = (): void => asked.leave();
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    return promise.finally(() => signal.removeEventListener('abort', leave));
  }
}

const nothingShown: LimitFacts = { rateLimit: null, quota: null };

const route = ({ network, method, params }: KnownCall, trace: CallTrace | null): Call => ({
  network,
  method,
  row: methodRow(method),
  params,
  trace,
});

/** What is counted of the end of a call. */
type CallEnd = Pick<Ending, 'status' | 'failure' | 'rpcCode' | 'bytesOut' | 'result' | 'cost'>;

/** As long results are counted, which are never errors of a node. */
const WHOLE: Answer = { body: Buffer.alloc(0), errorCode: 0 };

/** What is sent of the end of a call: its answer, or why there is none, unless nobody is there to read it. */
function sentBytes(answer: Answer | null, failure: Failure | null, idBytes: number): number {
  if (answer !== null) return answerBytes(answer, idBytes);
  return failure === null || failure.code === 'CLIENT_GONE' ? 0 : failureBytes(failure, idBytes);
}

/** One call on its way. It holds the only catch on it. */
class Journey implements Asked, Asker, LongAsker, LongMeter {
  readonly #way: CallWay;
  readonly #visit: Visit;
  readonly #request: KnownCall;
  readonly #call: Call;
  readonly #replier: Replier;
  #asked: Asked | null = null;

  constructor(way: CallWay, visit: Visit, request: KnownCall, replier: Replier) {
    this.#way = way;
    this.#visit = visit;
    this.#request = request;
    this.#call = route(request, visit.trace);
    this.#replier = replier;
  }

  begin(identify: Identify): void {
    const { parts, source } = this.#way;
    try {
      identify(this.#visit);
      parts.admission.permit(this.#visit, this.#request.method, this.#call.row.cost);
      parts.admission.takeRate(this.#visit);
      this.#asked = putFor(source, parts.submissions, this.#visit, this.#floored(), this);
    } catch (thrown) {
      this.failed(explain(thrown));
    }
  }

  /** The call, with what its session was told before. */
  #floored(): Call {
    const { session, network } = this.#request;
    const { key } = this.#visit;
    const floor = key === null ? null : this.#way.parts.sessions?.floorFor(key, network, session);
    return floor == null ? this.#call : { ...this.#call, floor };
  }

  leave(): void {
    this.#asked?.leave();
  }

  /** Of whoever takes long results while they come. */
  get long(): LongAsker | null {
    return this.#replier.long == null ? null : this;
  }

  answeredLong(answer: LongAnswer): void {
    this.#replier.long?.repliedLong(new MeteredLong(answer, this), this.#shown());
  }

  longEnded(bytes: number, failure: Failure | null): void {
    const { cost } = this.#call.row;
    const bytesOut = longAnswerBytes(bytes, failure === null, this.#request.idBytes);
    this.#meter({ status: statusOf(WHOLE, failure), failure, rpcCode: 0, bytesOut, result: null, cost });
  }

  answered(answer: Answer): void {
    this.#end(answer, null);
    // Named one by one: a spread looks for members by their names, with every call.
    const { rateLimit, quota = null } = this.#shown();
    this.#replier.replied({ answer, failure: null, rateLimit, quota });
  }

  failed(failure: Failure): void {
    if (failure.code === 'INTERNAL') {
      const { key } = this.#visit;
      this.#way.parts.log.error({ err: failure.cause, keyId: key?.id }, 'a call went wrong');
    }
    this.#end(null, failure);
    this.#replier.replied({ answer: null, failure, ...this.#shown() });
  }

  #end(answer: Answer | null, failure: Failure | null): void {
    this.#meter({
      status: statusOf(answer, failure),
      failure,
      rpcCode: answer?.errorCode ?? 0,
      bytesOut: sentBytes(answer, failure, this.#request.idBytes),
      result: answer?.body ?? null,
      cost: answer === null ? null : this.#call.row.cost,
    });
  }

  #meter({ status, failure, rpcCode, bytesOut, result, cost }: CallEnd): void {
    const { product, network, method, bytesIn, params } = this.#request;
    const { wire } = this.#way;
    this.#way.parts.meter.end(this.#visit, {
      wire,
      product,
      network,
      method,
      status,
      failure,
      rpcCode,
      bytesIn,
      bytesOut,
      params,
      result,
      cost,
    });
  }

  /** Messages have no header fields: where limits are told there, they stand in the failure. */
  #shown(): LimitFacts {
    return this.#way.wire === 'socket' ? nothingShown : this.#way.parts.admission.shown(this.#visit);
  }
}

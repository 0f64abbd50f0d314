import type { Logger } from '../base/log.ts';
import type {
  Call,
  CallTrace,
  PendingCall,
  ResponseHandler,
  RpcDispatcher,
  RpcResponse,
} from '../protocol/call.ts';
import type { Failure } from '../protocol/errors.ts';
import { methodRow } from '../protocol/methods.ts';
import type { LimitStatus, Outcome, Responder, RpcRequest } from '../protocol/request-handler.ts';
import { failureBytes, responseBytes, streamedResponseBytes } from '../protocol/response-envelope.ts';
import type { StreamedResponse, StreamHandler } from '../protocol/streamed-response.ts';
import type { Admission } from './admission.ts';
import { forwardCall } from './forward-call.ts';
import type { CallMeter, MeteredResult } from './metering/call-meter.ts';
import { MeteredResponse, type ResponseMeter } from './metering/metered-response.ts';
import { statusOf, toFailure } from './outcome.ts';
import type { RequestContext } from './request-context.ts';
import type { SessionMinSlots } from './session-min-slots.ts';
import type { LiveConnections } from './telemetry/live-connections.ts';
import type { Wire } from './telemetry/request-log.ts';
import type { SubmissionLog } from './telemetry/submission-log.ts';

/** What a call meets on its way. */
export type CallParts = Readonly<{
  admission: Admission;
  source: RpcDispatcher;
  meter: CallMeter;
  /** Who keeps what became of transactions; absent: nobody. */
  submissions?: SubmissionLog;
  /** Who lists long connections; absent: nobody. */
  connections?: LiveConnections;
  /** What sessions were told of the chain; absent: none is kept from seeing it go back. */
  sessions?: SessionMinSlots;
  log: Logger;
}>;

/** A call without the credential that it may have come with. */
export type CallRequest = Omit<RpcRequest, 'credential' | 'client' | 'traceparent'>;

/** Notes in a visit whose it is. May throw a Failure, which is metered as the call's end. */
export type Authenticate = (context: RequestContext) => void;

/** The way that calls take, over whatever connection they came. */
export class CallHandler {
  readonly parts: CallParts;
  readonly wire: Wire;
  readonly source: RpcDispatcher;

  constructor(parts: CallParts, wire: Wire) {
    this.parts = parts;
    this.wire = wire;
    this.source = parts.source;
  }

  /** The way of a call: identify, permit, limit, route, forward, meter. */
  dispatch(
    context: RequestContext,
    authenticate: Authenticate,
    request: CallRequest,
    responder: Responder,
  ): PendingCall {
    const execution = new CallExecution(this, context, request, responder);
    execution.start(authenticate);
    return execution;
  }

  /** The same as a promise, which never rejects. */
  execute(
    context: RequestContext,
    authenticate: Authenticate,
    request: CallRequest,
    signal?: AbortSignal,
  ): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const pending = this.dispatch(context, authenticate, request, { respond: resolve });
    if (signal === undefined) return promise;
    const cancel = (): void => pending.cancel();
    if (signal.aborted) cancel();
    else signal.addEventListener('abort', cancel, { once: true });
    return promise.finally(() => signal.removeEventListener('abort', cancel));
  }
}

const noLimitStatus: LimitStatus = { rateLimit: null, quota: null };

const route = ({ network, method, params }: CallRequest, trace: CallTrace | null): Call => ({
  network,
  method,
  row: methodRow(method),
  params,
  trace,
});

/** What is counted of the end of a call. */
type CallEnd = Pick<MeteredResult, 'status' | 'failure' | 'rpcCode' | 'bytesOut' | 'result' | 'cost'>;

/** As long results are counted, which are never errors of a node. */
const STREAMED_OK: RpcResponse = { body: Buffer.alloc(0), errorCode: 0 };

/** What is sent of the end of a call: its answer, or why there is none, unless nobody is there to read it. */
function sentBytes(response: RpcResponse | null, failure: Failure | null, idBytes: number): number {
  if (response !== null) return responseBytes(response, idBytes);
  return failure === null || failure.code === 'CLIENT_GONE' ? 0 : failureBytes(failure, idBytes);
}

/** One call on its way. It holds the only catch on it. */
class CallExecution implements PendingCall, ResponseHandler, StreamHandler, ResponseMeter {
  readonly #handler: CallHandler;
  readonly #context: RequestContext;
  readonly #request: CallRequest;
  readonly #call: Call;
  readonly #responder: Responder;
  #pending: PendingCall | null = null;

  constructor(handler: CallHandler, context: RequestContext, request: CallRequest, responder: Responder) {
    this.#handler = handler;
    this.#context = context;
    this.#request = request;
    this.#call = route(request, context.trace);
    this.#responder = responder;
  }

  start(authenticate: Authenticate): void {
    const { parts, source } = this.#handler;
    try {
      authenticate(this.#context);
      parts.admission.authorize(this.#context, this.#request.method, this.#call.row.cost);
      parts.admission.consumeRate(this.#context);
      this.#pending = forwardCall(source, parts.submissions, this.#context, this.#withMinSlot(), this);
    } catch (thrown) {
      this.onError(toFailure(thrown));
    }
  }

  /** The call, with what its session was told before. */
  #withMinSlot(): Call {
    const { session, network } = this.#request;
    const { key } = this.#context;
    const minSlot = key === null ? null : this.#handler.parts.sessions?.minSlotFor(key, network, session);
    return minSlot == null ? this.#call : { ...this.#call, minSlot };
  }

  cancel(): void {
    this.#pending?.cancel();
  }

  /** Of whoever takes long results while they come. */
  get stream(): StreamHandler | null {
    return this.#responder.stream == null ? null : this;
  }

  onStream(response: StreamedResponse): void {
    this.#responder.stream?.respondStream(new MeteredResponse(response, this), this.#limitStatus());
  }

  onStreamEnd(bytes: number, failure: Failure | null): void {
    const { cost } = this.#call.row;
    const bytesOut = streamedResponseBytes(bytes, failure === null, this.#request.idBytes);
    this.#meter({
      status: statusOf(STREAMED_OK, failure),
      failure,
      rpcCode: 0,
      bytesOut,
      result: null,
      cost,
    });
  }

  onResponse(response: RpcResponse): void {
    this.#finish(response, null);
    // Named one by one: a spread looks for members by their names, with every call.
    const { rateLimit, quota = null } = this.#limitStatus();
    this.#responder.respond({ response, failure: null, rateLimit, quota });
  }

  onError(failure: Failure): void {
    if (failure.code === 'INTERNAL') {
      const { key } = this.#context;
      this.#handler.parts.log.error({ err: failure.cause, keyId: key?.id }, 'a call went wrong');
    }
    this.#finish(null, failure);
    this.#responder.respond({ response: null, failure, ...this.#limitStatus() });
  }

  #finish(response: RpcResponse | null, failure: Failure | null): void {
    this.#meter({
      status: statusOf(response, failure),
      failure,
      rpcCode: response?.errorCode ?? 0,
      bytesOut: sentBytes(response, failure, this.#request.idBytes),
      result: response?.body ?? null,
      cost: response === null ? null : this.#call.row.cost,
    });
  }

  #meter({ status, failure, rpcCode, bytesOut, result, cost }: CallEnd): void {
    const { product, network, method, bytesIn, params } = this.#request;
    const { wire } = this.#handler;
    this.#handler.parts.meter.endRequest(this.#context, {
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
  #limitStatus(): LimitStatus {
    return this.#handler.wire === 'socket'
      ? noLimitStatus
      : this.#handler.parts.admission.limitStatus(this.#context);
  }
}

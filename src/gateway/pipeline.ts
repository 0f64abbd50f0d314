import type { Logger } from '../base/log.ts';
import type {
  Call,
  Network,
  PendingCall,
  ResponseHandler,
  RpcDispatcher,
  RpcResponse,
} from '../protocol/call.ts';
import { Failure } from '../protocol/errors.ts';
import { methodRow, methodTraits, unknownMethod } from '../protocol/methods.ts';
import { nodeErrorRow } from '../protocol/node-errors.ts';
import type { Product } from '../protocol/product.ts';
import type {
  AdmittedRequest,
  Caller,
  InvalidRequest,
  InvalidRequestOutcome,
  LimitStatus,
  RequestHandler,
  Responder,
  RpcRequest,
} from '../protocol/request-handler.ts';
import { failureBytes, responseBytes, streamedResponseBytes } from '../protocol/response-envelope.ts';
import type { ResponseReader, StreamedResponse, StreamHandler } from '../protocol/streamed-response.ts';
import type { Admission } from './admission.ts';
import {
  type CallMeter,
  emptyRequest,
  logInternalError,
  RequestContext,
  statusOfFailure,
  toFailure,
} from './metering/call-meter.ts';
import { OTHER_METHOD } from './metering/usage-meter.ts';
import type { UsageStatus } from './metering/usage-status.ts';
import type { SessionMinSlots } from './session-min-slots.ts';
import type { LiveConnections } from './telemetry/live-connections.ts';
import type { ErrorDetail, Wire } from './telemetry/request-result.ts';
import { forwardCall, type SubmissionLog } from './telemetry/submission-log.ts';

export type PipelineParts = Readonly<{
  admission: Admission;
  meter: CallMeter;
  log: Logger;
  source: RpcDispatcher;
  submissions?: SubmissionLog;
  connections?: LiveConnections;
  /** Absent: no session has monotonic reads. */
  sessions?: SessionMinSlots;
}>;

/** Processes JSON-RPC calls: authenticates, authorizes, limits, routes, forwards and meters them. */
export class CallPipeline implements RequestHandler {
  readonly #parts: PipelineParts;
  readonly #wire: Wire;

  constructor(parts: PipelineParts, wire: Wire) {
    this.#parts = parts;
    this.#wire = wire;
  }

  /** The returned context holds the key or the reason for the rejection. */
  start(caller: Caller, product: Product, network: Network | null): RequestContext {
    const { admission, meter } = this.#parts;
    const context = meter.startRequest(caller.client, caller.traceparent);
    try {
      admission.authenticate(caller, product, network, context);
    } catch (thrown) {
      context.rejection = toFailure(thrown);
    }
    return context;
  }

  /** Authenticates a caller before the body is read, and meters the request if the caller is rejected. */
  admit(caller: Caller, product: Product, network: Network | null): AdmittedRequest | Failure {
    const context = this.start(caller, product, network);
    const { rejection } = context;
    if (rejection === null) return context;
    const { meter, log } = this.#parts;
    logInternalError(log, rejection, { wire: this.#wire });
    const status = statusOfFailure(rejection);
    meter.endRequest(context, {
      ...emptyRequest,
      wire: this.#wire,
      product,
      network,
      status,
      failure: rejection,
    });
    return rejection;
  }

  dispatch(request: RpcRequest, responder: Responder, admitted: AdmittedRequest | null = null): PendingCall {
    const { admission, sessions, source, submissions } = this.#parts;
    const { network, method, params, session } = request;
    const context =
      admitted instanceof RequestContext ? admitted : this.start(request, request.product, network);
    const { key, trace } = context;
    const row = methodRow(method);
    const handler = new CallHandler(this.#parts, this.#wire, context, request, row.credits, responder);
    if (context.rejection !== null || key === null) {
      handler.onError(context.rejection ?? new Failure('INTERNAL'));
      return handler;
    }
    try {
      admission.authorize(context, method, row.credits);
      admission.consumeRate(context);
      const hasSession = session != null || key.monotonicReads;
      const minSlot = (hasSession && sessions?.minSlotFor(key, network, session)) || null;
      const call: Call = { network, method, row, params, trace, minSlot };
      handler.pending = methodTraits[row.kind].signed
        ? forwardCall(source, submissions, key, call, handler)
        : source.dispatch(call, handler);
    } catch (thrown) {
      handler.onError(toFailure(thrown));
    }
    return handler;
  }

  /**
   * Counts a malformed body or a notification against the rate limit, because parsing took time. Costs no credits.
   * @returns the limits and `failure`: the fault or the reason for the rejection, or null if there is neither.
   */
  recordInvalidRequest(
    invalidRequest: InvalidRequest,
    admitted: AdmittedRequest | null = null,
  ): InvalidRequestOutcome {
    const { admission, meter, log } = this.#parts;
    const { product, network, fault, bytesIn, idBytes } = invalidRequest;
    const context =
      admitted instanceof RequestContext ? admitted : this.start(invalidRequest, product, network);
    let failure = context.rejection ?? fault;
    try {
      // A lack of capacity is not the caller's fault, so it does not count against the caller.
      if (context.rejection === null && (fault === null || fault.row.owner === 'client')) {
        admission.authorize(context, null);
        admission.consumeRate(context);
      }
    } catch (thrown) {
      failure = toFailure(thrown);
    }
    if (failure !== null) logInternalError(log, failure, { wire: this.#wire });
    meter.endRequest(context, {
      ...emptyRequest,
      ...{ wire: this.#wire, product, network, method: OTHER_METHOD, failure, bytesIn },
      status: failure === null ? 'ok' : statusOfFailure(failure),
      bytesOut: failure === null || idBytes === null ? 0 : failureBytes(failure, idBytes),
    });
    return { failure, ...admission.limitStatus(context) };
  }
}

export const createPipeline = (parts: PipelineParts): RequestHandler => new CallPipeline(parts, 'rpc');

const noLimitStatus: LimitStatus = { rateLimit: null, quota: null };

class CallHandler implements PendingCall, ResponseHandler, StreamHandler {
  readonly #parts: PipelineParts;
  readonly #wire: Wire;
  readonly #context: RequestContext;
  readonly #request: RpcRequest;
  readonly #credits: number;
  readonly #responder: Responder;
  /** Null if the responder accepts only whole responses. */
  readonly stream: StreamHandler | null;
  /** The forwarded call; null until the call is forwarded, or if it was rejected. */
  pending: PendingCall | null = null;

  constructor(
    parts: PipelineParts,
    wire: Wire,
    context: RequestContext,
    request: RpcRequest,
    credits: number,
    responder: Responder,
  ) {
    this.#parts = parts;
    this.#wire = wire;
    this.#context = context;
    this.#request = request;
    this.#credits = credits;
    this.#responder = responder;
    this.stream = responder.stream == null ? null : this;
  }

  cancel(): void {
    this.pending?.cancel();
  }

  onStream(response: StreamedResponse): void {
    this.#responder.stream?.respondStream(new MeteredResponse(response, this), this.#limitStatus());
  }

  /** @param bytes - number of result bytes passed on. @param failure - why the stream was aborted; null: completed. */
  onStreamEnd(bytes: number, failure: Failure | null): void {
    const bytesOut = streamedResponseBytes(bytes, failure === null, this.#request.idBytes);
    this.#meter(null, failure, bytesOut, this.#credits);
  }

  onResponse(response: RpcResponse): void {
    const bytesOut = responseBytes(response, this.#request.idBytes);
    if (response.errorCode === 0) this.#meter(response, null, bytesOut, this.#credits);
    else this.#meterError(response, bytesOut);
    // List the members: a spread would look them up by name on each call.
    const { rateLimit, quota = null } = this.#limitStatus();
    this.#responder.respond({ response, failure: null, rateLimit, quota });
  }

  onError(failure: Failure): void {
    logInternalError(this.#parts.log, failure, {
      keyId: this.#context.key?.id,
      method: this.#request.method,
    });
    const isSent = failure.code !== 'CLIENT_GONE';
    this.#meter(null, failure, isSent ? failureBytes(failure, this.#request.idBytes) : 0, null);
    this.#responder.respond({ response: null, failure, ...this.#limitStatus() });
  }

  /** @param response - null for a failure or a streamed result. @param credits - null: not charged. */
  #meter(
    response: RpcResponse | null,
    failure: Failure | null,
    bytesOut: number,
    credits: number | null,
    status: UsageStatus = failure === null ? 'ok' : statusOfFailure(failure),
    detail: ErrorDetail | null = null,
  ): void {
    const { product, network, method, bytesIn, params } = this.#request;
    const rpcCode = response?.errorCode ?? 0;
    const result = response?.body ?? null;
    this.#parts.meter.endRequest(this.#context, {
      wire: this.#wire,
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
      credits,
      detail,
    });
  }

  /** An unknown method is the caller's error, and free. */
  #meterError(response: RpcResponse, bytesOut: number): void {
    const { errorCode, attempts } = response;
    const { didNothing, missing } = nodeErrorRow(errorCode);
    if (didNothing && missing === 'method' && methodRow(this.#request.method) === unknownMethod) {
      this.#parts.meter.recordUnknownMethod(this.#context.key, this.#request.method);
      this.#meter(response, null, bytesOut, null, 'client', { attempts });
      return;
    }
    // Without a node that sent it, the error says that the nodes are behind.
    const status = attempts?.length === 0 ? 'upstream' : 'rpcError';
    this.#meter(response, null, bytesOut, this.#credits, status, { attempts });
  }

  /** Returns no limits for WebSocket messages, which have no headers; their failures report the limits instead. */
  #limitStatus(): LimitStatus {
    return this.#wire === 'socket' ? noLimitStatus : this.#parts.admission.limitStatus(this.#context);
  }
}

class MeteredResponse implements StreamedResponse, ResponseReader {
  readonly #response: StreamedResponse;
  readonly #handler: CallHandler;
  #reader: ResponseReader | null = null;
  #bytes = 0;
  #isEnded = false;

  constructor(response: StreamedResponse, handler: CallHandler) {
    this.#response = response;
    this.#handler = handler;
  }

  get bytes(): number | null {
    return this.#response.bytes;
  }

  pipeTo(reader: ResponseReader): void {
    this.#reader = reader;
    this.#response.pipeTo(this);
  }

  pause(): void {
    this.#response.pause();
  }

  resume(): void {
    this.#response.resume();
  }

  cancel(): void {
    this.#response.cancel();
    this.#finish(new Failure('CLIENT_GONE'));
  }

  onData(bytes: Buffer): void {
    this.#bytes += bytes.length;
    this.#reader?.onData(bytes);
  }

  onEnd(last: Buffer): void {
    this.#bytes += last.length;
    this.#finish(null);
    this.#reader?.onEnd(last);
  }

  onError(failure: Failure): void {
    this.#finish(failure);
    this.#reader?.onError(failure);
  }

  #finish(failure: Failure | null): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#handler.onStreamEnd(this.#bytes, failure);
  }
}

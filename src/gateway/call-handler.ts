import type { Logger } from '../base/log.ts';
import type { Call, PendingCall, ResponseHandler, RpcResponse } from '../protocol/call.ts';
import { Failure } from '../protocol/errors.ts';
import type { LimitStatus, Responder, RpcRequest } from '../protocol/request-handler.ts';
import { failureBytes, responseBytes, streamedResponseBytes } from '../protocol/response-envelope.ts';
import type { ResponseReader, StreamedResponse, StreamHandler } from '../protocol/streamed-response.ts';
import type { Admission } from './admission.ts';
import { type CallMeter, logInternalError, statusOfFailure } from './metering/call-meter.ts';
import type { RequestContext } from './request-context.ts';
import type { Wire } from './telemetry/request-log.ts';

export type CallParts = Readonly<{ admission: Admission; meter: CallMeter; log: Logger }>;

/** A call without its credential. */
export type CallRequest = Omit<RpcRequest, 'credential' | 'client' | 'traceparent'>;

const noLimitStatus: LimitStatus = { rateLimit: null, quota: null };

/** Handles the response of one call: meters it and passes it to the responder. */
export class CallHandler implements PendingCall, ResponseHandler, StreamHandler, ResponseMeter {
  readonly #parts: CallParts;
  readonly #wire: Wire;
  readonly #context: RequestContext;
  readonly #request: CallRequest;
  readonly #call: Call;
  readonly #responder: Responder;
  /** The forwarded call; null before it is forwarded, and if it was refused. */
  pending: PendingCall | null = null;

  constructor(
    parts: CallParts,
    wire: Wire,
    context: RequestContext,
    request: CallRequest,
    call: Call,
    responder: Responder,
  ) {
    this.#parts = parts;
    this.#wire = wire;
    this.#context = context;
    this.#request = request;
    this.#call = call;
    this.#responder = responder;
  }

  cancel(): void {
    this.pending?.cancel();
  }

  /** Null if the responder takes whole responses only. */
  get stream(): StreamHandler | null {
    return this.#responder.stream == null ? null : this;
  }

  onStream(response: StreamedResponse): void {
    this.#responder.stream?.respondStream(new MeteredResponse(response, this), this.#limitStatus());
  }

  onStreamEnd(bytes: number, failure: Failure | null): void {
    const bytesOut = streamedResponseBytes(bytes, failure === null, this.#request.idBytes);
    this.#meter(null, failure, bytesOut, this.#call.row.cost);
  }

  onResponse(response: RpcResponse): void {
    this.#meter(response, null, responseBytes(response, this.#request.idBytes), this.#call.row.cost);
    // Members are listed because a spread looks them up by name on each call.
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

  /** @param response - null for a failure, and for a streamed result. @param cost - null: not charged. */
  #meter(response: RpcResponse | null, failure: Failure | null, bytesOut: number, cost: number | null): void {
    const { product, network, method, bytesIn, params } = this.#request;
    const rpcCode = response?.errorCode ?? 0;
    const result = response?.body ?? null;
    const status = failure !== null ? statusOfFailure(failure) : rpcCode === 0 ? 'ok' : 'rpcError';
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
      cost,
    });
  }

  /** WebSocket messages have no headers: their failures carry the limits instead. */
  #limitStatus(): LimitStatus {
    return this.#wire === 'socket' ? noLimitStatus : this.#parts.admission.limitStatus(this.#context);
  }
}

export interface ResponseMeter {
  /**
   * Called once, when a streamed response has ended.
   * @param bytes - bytes of the result that were passed on.
   * @param failure - why it was aborted; null: it is complete.
   */
  onStreamEnd(bytes: number, failure: Failure | null): void;
}

/** Streamed response that counts its bytes and reports its end. */
export class MeteredResponse implements StreamedResponse, ResponseReader {
  readonly #response: StreamedResponse;
  readonly #meter: ResponseMeter;
  #reader: ResponseReader | null = null;
  #bytes = 0;
  #isEnded = false;

  constructor(response: StreamedResponse, meter: ResponseMeter) {
    this.#response = response;
    this.#meter = meter;
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
    this.#meter.onStreamEnd(this.#bytes, failure);
  }
}

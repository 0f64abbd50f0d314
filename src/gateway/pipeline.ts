import type { Call, CallTrace, Network, PendingCall, RpcDispatcher } from '../protocol/call.ts';
import type { Failure } from '../protocol/errors.ts';
import { methodRow } from '../protocol/methods.ts';
import type { Product } from '../protocol/product.ts';
import type {
  AdmittedRequest,
  Caller,
  InvalidRequest,
  RequestHandler,
  Responder,
  RpcRequest,
} from '../protocol/request-handler.ts';
import { failureBytes } from '../protocol/response-envelope.ts';
import { CallHandler, type CallParts, type CallRequest } from './call-handler.ts';
import { forwardCall } from './forward-call.ts';
import { emptyRequest, logInternalError, statusOfFailure, toFailure } from './metering/call-meter.ts';
import { OTHER_METHOD } from './metering/usage-meter.ts';
import { RequestContext } from './request-context.ts';
import type { SessionMinSlots } from './session-min-slots.ts';
import type { LiveConnections } from './telemetry/live-connections.ts';
import type { Wire } from './telemetry/request-log.ts';
import type { SubmissionLog } from './telemetry/submission-log.ts';

export type PipelineParts = CallParts &
  Readonly<{
    source: RpcDispatcher;
    submissions?: SubmissionLog;
    connections?: LiveConnections;
    /** Absent: no session has monotonic reads. */
    sessions?: SessionMinSlots;
  }>;

/** Sequence of steps for JSON-RPC calls: authenticate, authorize, limit, route, forward, meter. */
export class CallPipeline {
  readonly #parts: PipelineParts;
  readonly #wire: Wire;
  readonly #source: RpcDispatcher;

  constructor(parts: PipelineParts, wire: Wire) {
    this.#parts = parts;
    this.#wire = wire;
    this.#source = parts.source;
  }

  /** Starts and authenticates a request. The context holds the key, or why it was refused. */
  start(caller: Caller, product: Product, network: Network | null): RequestContext {
    const { admission, meter } = this.#parts;
    const context = meter.startRequest(caller.client, caller.traceparent);
    try {
      admission.authenticate(caller, product, network, context);
    } catch (thrown) {
      context.refusal = toFailure(thrown);
    }
    return context;
  }

  /** Authorizes, limits, routes and forwards a call. The returned handler meters its response. */
  dispatch(context: RequestContext, request: CallRequest, responder: Responder): PendingCall {
    const { admission, submissions } = this.#parts;
    const call = routeCall(request, context.trace);
    const handler = new CallHandler(this.#parts, this.#wire, context, request, call, responder);
    if (context.refusal !== null) {
      handler.onError(context.refusal);
      return handler;
    }
    try {
      admission.authorize(context, request.method, call.row.cost);
      admission.consumeRate(context);
      const forwarded = this.#withMinSlot(context, request, call);
      handler.pending = forwardCall(this.#source, submissions, context, forwarded, handler);
    } catch (thrown) {
      handler.onError(toFailure(thrown));
    }
    return handler;
  }

  /**
   * Authorizes, limits and meters a request that is no executable call, such as a malformed body or a notification.
   * Reading it was work, so it counts against the rate like a call; it costs no credits.
   * @returns its fault, or why it was refused; null: neither.
   */
  recordInvalidRequest(
    context: RequestContext,
    invalidRequest: Omit<InvalidRequest, 'credential' | 'client' | 'traceparent'>,
  ): Failure | null {
    const { admission, meter, log } = this.#parts;
    const { product, network, fault, bytesIn, idBytes } = invalidRequest;
    let failure = context.refusal ?? fault;
    try {
      // A lack of capacity is not the caller's fault and is not counted against it.
      if (context.refusal === null && (fault === null || fault.row.owner === 'client')) {
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
    return failure;
  }

  /** Meters a request that was refused before its body was read. */
  recordRefusal(context: RequestContext, failure: Failure, product: Product, network: Network | null): void {
    const { meter, log } = this.#parts;
    logInternalError(log, failure, { wire: this.#wire });
    const status = statusOfFailure(failure);
    meter.endRequest(context, { ...emptyRequest, wire: this.#wire, product, network, status, failure });
  }

  #withMinSlot({ key }: RequestContext, { session, network }: CallRequest, call: Call): Call {
    const minSlot = key === null ? null : this.#parts.sessions?.minSlotFor(key, network, session);
    return minSlot == null ? call : { ...call, minSlot };
  }
}

const routeCall = ({ network, method, params }: CallRequest, trace: CallTrace | null): Call => ({
  network,
  method,
  row: methodRow(method),
  params,
  trace,
});

/** Creates the request handler that servers call for each JSON-RPC request. */
export function createPipeline(parts: PipelineParts): RequestHandler {
  const pipeline = new CallPipeline(parts, 'rpc');
  const contextOf = (
    request: RpcRequest | InvalidRequest,
    admitted: AdmittedRequest | null | undefined,
  ): RequestContext =>
    admitted instanceof RequestContext ? admitted : pipeline.start(request, request.product, request.network);
  return {
    admit(caller, product, network) {
      const context = pipeline.start(caller, product, network);
      if (context.refusal === null) return context;
      pipeline.recordRefusal(context, context.refusal, product, network);
      return context.refusal;
    },
    dispatch: (request, responder, admitted) =>
      pipeline.dispatch(contextOf(request, admitted), request, responder),
    recordInvalidRequest(invalidRequest, admitted) {
      const context = contextOf(invalidRequest, admitted);
      const failure = pipeline.recordInvalidRequest(context, invalidRequest);
      return { failure, ...parts.admission.limitStatus(context) };
    },
  };
}

import type { Network } from '../protocol/call.ts';
import { Failure } from '../protocol/errors.ts';
import type { Product } from '../protocol/product.ts';
import type { Caller, RequestHandler } from '../protocol/request-handler.ts';
import { CallHandler, type CallParts } from './call-handler.ts';
import { emptyRequest, recordInvalidRequest } from './invalid-request.ts';
import { statusOfFailure, toFailure } from './outcome.ts';
import { RequestContext } from './request-context.ts';

/** What a request meets on its way. */
export type PipelineParts = CallParts;

/**
 * The way of a request: authenticate, permit, limit, route, forward, meter. Every dialect of single requests calls it,
 * once per call; it never rejects. Before it stands the look at the key alone, for what has not arrived yet.
 */
export function createPipeline(parts: PipelineParts): RequestHandler {
  const { admission, meter, log } = parts;
  const handler = new CallHandler(parts, 'rpc');

  function preAdmit(caller: Caller, product: Product, network: Network | null): RequestContext | Failure {
    const context = meter.startRequest(caller.client, caller.traceparent);
    try {
      admission.authenticate(caller, product, network, context);
      return context;
    } catch (thrown) {
      const failure = toFailure(thrown);
      if (failure.code === 'INTERNAL') log.error({ err: failure.cause }, 'a look at a key went wrong');
      meter.endRequest(context, {
        ...emptyRequest,
        wire: 'rpc',
        product,
        network,
        status: statusOfFailure(failure),
        failure,
      });
      return failure;
    }
  }

  return {
    admit(caller, product, network) {
      const admitted = preAdmit(caller, product, network);
      return admitted instanceof Failure ? admitted : null;
    },
    preAdmit,
    serve(request, signal) {
      const { product, network, client, traceparent } = request;
      const authenticate = (context: RequestContext) =>
        admission.authenticate(request, product, network, context);
      return handler.execute(meter.startRequest(client, traceparent), authenticate, request, signal);
    },
    dispatch(request, responder, admitted = null) {
      if (admitted instanceof RequestContext)
        return handler.dispatch(admitted, skipAuthentication, request, responder);
      const { product, network, client, traceparent } = request;
      const authenticate = (context: RequestContext) =>
        admission.authenticate(request, product, network, context);
      return handler.dispatch(meter.startRequest(client, traceparent), authenticate, request, responder);
    },
    recordInvalidRequest(invalidRequest, admitted = null) {
      const { product, network, client, traceparent } = invalidRequest;
      const isAdmitted = admitted instanceof RequestContext;
      const context = isAdmitted ? admitted : meter.startRequest(client, traceparent);
      const authenticate = (target: RequestContext) =>
        admission.authenticate(invalidRequest, product, network, target);
      const failure = recordInvalidRequest(
        parts,
        'rpc',
        context,
        isAdmitted ? skipAuthentication : authenticate,
        invalidRequest,
      );
      return { failure, ...admission.limitStatus(context) };
    },
  };
}

/** It is known already whose a visit is. */
const skipAuthentication = (): void => {};

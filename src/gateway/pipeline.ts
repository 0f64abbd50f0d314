import { Visit } from '../access/visit.ts';
import type { Network } from '../protocol/call.ts';
import { Failure } from '../protocol/errors.ts';
import type { Product } from '../protocol/product.ts';
import type { Caller, Door } from '../protocol/serve.ts';
import { type CallParts, CallWay } from './answer-call.ts';
import { countNonCall, noCall } from './non-call.ts';
import { explain, statusOfFailure } from './outcome.ts';

/** What a request meets on its way. */
export type PipelineParts = CallParts;

/**
 * The way of a request: authenticate, permit, limit, route, forward, meter. Every dialect of single requests calls it,
 * once per call; it never rejects. Before it stands the look at the key alone, for what has not arrived yet.
 */
export function createPipeline(parts: PipelineParts): Door {
  const { admission, meter, log } = parts;
  const way = new CallWay(parts, 'rpc');

  function enter(caller: Caller, product: Product, network: Network | null): Visit | Failure {
    const visit = meter.begin(caller.client, caller.traceparent);
    try {
      admission.identify(caller, product, network, visit);
      return visit;
    } catch (thrown) {
      const failure = explain(thrown);
      if (failure.code === 'INTERNAL') log.error({ err: failure.cause }, 'a look at a key went wrong');
      meter.end(visit, {
        ...noCall,
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
      const entered = enter(caller, product, network);
      return entered instanceof Failure ? entered : null;
    },
    enter,
    serve(request, signal) {
      const { product, network, client, traceparent } = request;
      const identify = (visit: Visit) => admission.identify(request, product, network, visit);
      return way.answer(meter.begin(client, traceparent), identify, request, signal);
    },
    put(request, replier, entered = null) {
      if (entered instanceof Visit) return way.put(entered, isKnown, request, replier);
      const { product, network, client, traceparent } = request;
      const identify = (visit: Visit) => admission.identify(request, product, network, visit);
      return way.put(meter.begin(client, traceparent), identify, request, replier);
    },
    countNonCall(nonCall, entered = null) {
      const { product, network, client, traceparent } = nonCall;
      const isEntered = entered instanceof Visit;
      const visit = isEntered ? entered : meter.begin(client, traceparent);
      const identify = (asked: Visit) => admission.identify(nonCall, product, network, asked);
      const failure = countNonCall(parts, 'rpc', visit, isEntered ? isKnown : identify, nonCall);
      return { failure, ...admission.shown(visit) };
    },
  };
}

/** It is known already whose a visit is. */
const isKnown = (): void => {};

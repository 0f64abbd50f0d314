import type { Failure } from '../protocol/errors.ts';
import type { InvalidRequest } from '../protocol/request-handler.ts';
import { failureBytes } from '../protocol/response-envelope.ts';
import type { Authenticate, CallParts } from './call-handler.ts';
import { OTHER_METHOD } from './metering/usage-meter.ts';
import { statusOfFailure, toFailure } from './outcome.ts';
import type { RequestContext } from './request-context.ts';
import type { Wire } from './telemetry/request-log.ts';

/** A request of which nothing but the key was looked at: for no method, of no bytes. */
export const emptyRequest = {
  method: '',
  rpcCode: 0,
  bytesIn: 0,
  bytesOut: 0,
  params: null,
  result: null,
  cost: null,
} as const;

/**
 * The way of what is no call that could be made: identify, permit, limit, meter. Reading it was work as well, so that it
 * takes as much of the rates as a call and is not let in once the quota is spent. It is for no method and costs nothing.
 * @returns what is to be said to it: its fault, or why it was not let in; null: nothing.
 */
export function recordInvalidRequest(
  { admission, meter, log }: Pick<CallParts, 'admission' | 'meter' | 'log'>,
  wire: Wire,
  context: RequestContext,
  authenticate: Authenticate,
  {
    product,
    network,
    fault,
    bytesIn,
    idBytes,
  }: Omit<InvalidRequest, 'credential' | 'client' | 'traceparent'>,
): Failure | null {
  let failure = fault;
  try {
    authenticate(context);
    // That we have no room for it is not its caller's doing.
    if (fault === null || fault.row.owner === 'client') {
      admission.authorize(context, null);
      admission.consumeRate(context);
    }
  } catch (thrown) {
    failure = toFailure(thrown);
    if (failure.code === 'INTERNAL')
      log.error({ err: failure.cause }, 'what is no call could not be counted');
  }
  const status = failure === null ? 'ok' : statusOfFailure(failure);
  const bytesOut = failure === null || idBytes === null ? 0 : failureBytes(failure, idBytes);
  const metered = { method: OTHER_METHOD, status, failure, bytesIn, bytesOut };
  meter.endRequest(context, { ...emptyRequest, wire, product, network, ...metered });
  return failure;
}

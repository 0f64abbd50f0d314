import { OTHER_METHOD } from '../access/usage.ts';
import type { Visit } from '../access/visit.ts';
import type { Wire } from '../observe/request-log.ts';
import { failureBytes } from '../protocol/envelope-answer.ts';
import type { Failure } from '../protocol/errors.ts';
import type { NonCall } from '../protocol/serve.ts';
import type { CallParts, Identify } from './answer-call.ts';
import { explain, statusOfFailure } from './outcome.ts';

/** A request of which nothing but the key was looked at: for no method, of no bytes. */
export const noCall = {
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
export function countNonCall(
  { admission, meter, log }: Pick<CallParts, 'admission' | 'meter' | 'log'>,
  wire: Wire,
  visit: Visit,
  identify: Identify,
  { product, network, fault, bytesIn, idBytes }: Omit<NonCall, 'credential' | 'client' | 'traceparent'>,
): Failure | null {
  let failure = fault;
  try {
    identify(visit);
    // That we have no room for it is not its caller's doing.
    if (fault === null || fault.row.owner === 'client') {
      admission.permit(visit, null);
      admission.takeRate(visit);
    }
  } catch (thrown) {
    failure = explain(thrown);
    if (failure.code === 'INTERNAL')
      log.error({ err: failure.cause }, 'what is no call could not be counted');
  }
  const status = failure === null ? 'ok' : statusOfFailure(failure);
  const bytesOut = failure === null || idBytes === null ? 0 : failureBytes(failure, idBytes);
  const counted = { method: OTHER_METHOD, status, failure, bytesIn, bytesOut };
  meter.end(visit, { ...noCall, wire, product, network, ...counted });
  return failure;
}

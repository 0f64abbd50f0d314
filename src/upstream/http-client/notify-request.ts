import type { BodyListener, Exchange } from '../exchange.ts';
import type { HttpRequest } from './http-request.ts';

/** Tells whoever has to be told of a request that has failed. Who breaks over that keeps it from nobody else. */
export function notifyFailed(
  request: HttpRequest,
  bodyListener: BodyListener | null,
  exchange: Exchange,
): void {
  try {
    if (bodyListener === null) {
      request.settle(exchange);
      return;
    }
    request.isSettled = true;
    bodyListener.onError(exchange);
  } catch {
    // They have heard of it all the same.
  }
}

/** Ends a body that was passed on. @returns whether it may have been the answer. */
export function endStream(request: HttpRequest, bodyListener: BodyListener, rest: Buffer): boolean {
  request.isSettled = true;
  if (rest.length > 0) bodyListener.onData(rest);
  return bodyListener.onEnd();
}

import type { BodySink, Exchange } from '../exchange.ts';
import type { Post } from './post.ts';

/** Tells whoever has to be told of a request that has failed. Who breaks over that keeps it from nobody else. */
export function tellFailed(post: Post, sink: BodySink | null, exchange: Exchange): void {
  try {
    if (sink === null) {
      post.settle(exchange);
      return;
    }
    post.isSettled = true;
    sink.failed(exchange);
  } catch {
    // They have heard of it all the same.
  }
}

/** Ends a body that was passed on. @returns whether it may have been the answer. */
export function endLong(post: Post, sink: BodySink, rest: Buffer): boolean {
  post.isSettled = true;
  if (rest.length > 0) sink.piece(rest);
  return sink.ended();
}

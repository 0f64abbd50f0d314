import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';

/** How slowly a client may read an answer. */
export type ResponsePace = Readonly<{
  /** Time for a whole answer, however well its client reads. */
  answerMaxMs: number;
  /**
   * A client that takes fewer than `progressLeastBytes` in this time, while nothing else than the client is waited for,
   * is given up. What is read of a file at a time is given as much more time as it is larger.
   */
  progressMs: number;
  progressLeastBytes: number;
}>;

/**
 * Sends pieces no faster than they are taken, and ends the response.
 * @throws Error when the client leaves, is too slow or takes too long in all, and what `pieces` throws.
 */
export async function sendPaced(
  pieces: AsyncIterable<Uint8Array>,
  response: ServerResponse,
  { answerMaxMs, progressMs, progressLeastBytes }: ResponsePace,
): Promise<void> {
  const slow = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const within = (ms: number): void => {
    timer = setTimeout(() => slow.abort(), ms);
  };
  const paced = async function* (): AsyncGenerator<Uint8Array, void> {
    for await (const piece of pieces) {
      within(progressMs * Math.max(1, piece.length / progressLeastBytes));
      // Comes back once there is room for more: the client has taken it, or its connection has.
      yield piece;
      clearTimeout(timer);
    }
    // For what has left here and may still be on this side of the connection.
    within(progressMs);
  };
  try {
    await pipeline(paced, response, {
      signal: AbortSignal.any([slow.signal, AbortSignal.timeout(answerMaxMs)]),
    });
  } finally {
    clearTimeout(timer);
  }
}

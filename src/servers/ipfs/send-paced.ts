import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';

/** Limits for slow readers. */
export type ResponsePace = Readonly<{
  /** Time for a whole response. */
  answerMaxMs: number;
  /**
   * A client that reads fewer than `progressLeastBytes` in this time is cut. Larger pieces get proportionally more time.
   */
  progressMs: number;
  progressLeastBytes: number;
}>;

/**
 * Sends pieces with backpressure and ends the response.
 * @throws Error when the client disconnects or is too slow, and what `pieces` throws.
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
      // Resumes when the connection accepts more.
      yield piece;
      clearTimeout(timer);
    }
    // For data still buffered on our side.
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

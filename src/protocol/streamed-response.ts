import type { Failure } from './errors.ts';

/**
 * Large result forwarded while it arrives. Its validity is known only at the end: readers complete their own
 * response in `onEnd` and abort it in `onError`. Nothing is delivered before `pipeTo`; without it `cancel`
 * must be called.
 */
export interface StreamedResponse {
  /** null if unknown. */
  readonly bytes: number | null;
  /** Starts delivery. Called once. */
  pipeTo(reader: ResponseReader): void;
  /** One more chunk may arrive. Pauses are limited by longAnswerStallMs. */
  pause(): void;
  resume(): void;
  /** Stops delivery; no more callbacks. */
  cancel(): void;
}

/** Must not throw. */
export interface ResponseReader {
  /** Raw JSON; the reader owns the bytes. */
  onData(bytes: Buffer): void;
  /** The result is complete. @param last - final bytes. */
  onEnd(last: Buffer): void;
  /** The result is incomplete or invalid and must be discarded. */
  onError(failure: Failure): void;
}

/** Receives a streamed response in place of a buffered one. */
export interface StreamHandler {
  onStream(response: StreamedResponse): void;
}

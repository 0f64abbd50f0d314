import type { Failure } from './errors.ts';

/**
 * A result that arrives in chunks. Only its end shows whether it is valid, so readers complete their own response in
 * `onEnd` and abort it in `onError`.
 * Nothing is delivered before `pipeTo` is called. If it is never called, `cancel` must be.
 */
export interface StreamedResponse {
  /** Size of the result; null if unknown. */
  readonly bytes: number | null;
  /** Called once. */
  pipeTo(reader: ResponseReader): void;
  /** One more chunk may still arrive. A pause may last at most streamStallMs. */
  pause(): void;
  resume(): void;
  /** No more callbacks follow. */
  cancel(): void;
}

/** Must not throw. */
export interface ResponseReader {
  /** The reader owns the bytes. */
  onData(bytes: Buffer): void;
  onEnd(last: Buffer): void;
  /** The result is incomplete or invalid and must be discarded. */
  onError(failure: Failure): void;
}

export interface StreamHandler {
  onStream(response: StreamedResponse): void;
}

import type { Failure } from './errors.ts';

/**
 * A long result that is passed on while it comes, so that nobody holds all of it. Whether it is whole and ours is known only
 * at its end: who has passed pieces on calls their own answer whole when `ended` comes, and breaks it off when `failed`
 * comes. Nothing comes before `readInto`; who does not read it must `leave` it.
 */
export interface StreamedResponse {
  /** Bytes of the whole result; null when only its end will tell. */
  readonly bytes: number | null;
  /** Begins. Asked once. */
  pipeTo(reader: ResponseReader): void;
  /** Nothing more for now, because whoever it goes to is slower; a piece may come all the same. It may not last for long. */
  pause(): void;
  resume(): void;
  /** Nothing more at all: nothing is told from now on, its end included. */
  cancel(): void;
}

/** Gets a long result. Must not throw. */
export interface ResponseReader {
  /** The next bytes of the raw JSON, which are whoever's heard them. */
  onData(bytes: Buffer): void;
  /** It is whole. @param last - its last bytes, as `piece` gets them. */
  onEnd(last: Buffer): void;
  /** It breaks off, or was not the answer: what came of it must not be taken for one. */
  onError(failure: Failure): void;
}

/** Hears of a long result in place of its whole. */
export interface StreamHandler {
  onStream(response: StreamedResponse): void;
}

/** Result of one HTTP request. */
export type Exchange = Readonly<
  | { kind: 'response'; status: number; retryAfter: string | null; body: Buffer }
  | { kind: 'too-large' }
  | { kind: 'over-budget' }
  | { kind: 'transport'; wasSent: boolean; timedOut: boolean }
  | { kind: 'aborted'; wasSent: boolean }
>;

export interface BodyFlow {
  /** One more chunk may arrive after this call. */
  pause(): void;
  resume(): void;
  /** Closes the connection. No more callbacks follow. */
  stop(): void;
}

/** Implementations must not throw. */
export interface BodyListener {
  /** The listener takes ownership of the bytes. */
  onData(bytes: Buffer): void;
  /** @returns false if the body is not a valid response; the connection is then closed. */
  onEnd(): boolean;
  /** @param exchange - never of kind `response`. */
  onError(exchange: Exchange): void;
}

/** Implementations must not throw. */
export interface NodeRequest {
  readonly id: number;
  readonly method: string;
  /** Raw JSON; null omits the member. */
  readonly params: Buffer | null;
  /** Whether the request is fast and harmless to repeat. */
  readonly isLight: boolean;
  /** Whether the request is harmless to repeat and cheap, so that other requests may be pipelined behind it. */
  readonly canPipeline: boolean;
  readonly acceptsStream: boolean;
  /**
   * Receives the result exactly once, possibly before `send` returns.
   * @returns false if the body is not a valid response; the connection is then closed.
   */
  onExchange(exchange: Exchange): boolean;
  /**
   * Offers the large body of a response with status 200 for streaming. The flow starts paused. Called at most once.
   * @param bytes - total length; null if unknown.
   * @returns the listener for the rest of the body, called instead of `onExchange`; null to buffer the body.
   */
  onStreamStart(start: Buffer, bytes: number | null, flow: BodyFlow): BodyListener | null;
}

export interface PendingRequest {
  abort(): void;
  /** Makes the request time out at the next sweep. */
  expire(): void;
}

/** Result of one HTTP request. */
export type Exchange = Readonly<
  | { kind: 'response'; status: number; retryAfter: string | null; body: Buffer }
  | { kind: 'too-large' }
  | { kind: 'over-budget' }
  | { kind: 'transport'; wasSent: boolean; timedOut: boolean }
  | { kind: 'aborted'; wasSent: boolean }
>;

export interface BodyFlow {
  /** One more chunk may arrive. */
  pause(): void;
  resume(): void;
  /** Closes the connection; no more callbacks. */
  stop(): void;
}

/** Must not throw. */
export interface BodyListener {
  /** The listener owns the bytes. */
  onData(bytes: Buffer): void;
  /** @returns false if the body is not a valid response, as `onExchange`. */
  onEnd(): boolean;
  /** Never called with a response. */
  onError(exchange: Exchange): void;
}

/** Its methods must not throw. */
export interface NodeRequest {
  readonly id: number;
  readonly method: string;
  /** Raw JSON; null omits the member. */
  readonly params: Buffer | null;
  /** May be pipelined: harmless if repeated, and fast. */
  readonly canPipeline: boolean;
  readonly acceptsStream: boolean;
  /**
   * Receives the result exactly once, possibly before `send` returns.
   * @returns false if the body is not a valid response; the connection is then closed.
   */
  onExchange(exchange: Exchange): boolean;
  /**
   * Offers a large body with HTTP status 200 for streaming; its flow is paused. Called at most once.
   * @param bytes - total length; null if unknown.
   * @returns the listener of the rest, which replaces `onExchange`; null to buffer the body.
   */
  onStreamStart(start: Buffer, bytes: number | null, flow: BodyFlow): BodyListener | null;
}

export interface PendingRequest {
  abort(): void;
  /** Times the request out within the next sweep. */
  expire(): void;
}

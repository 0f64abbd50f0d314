/** What one HTTP request came to. Never rejects: a failure is an outcome like any other. */
export type Exchange = Readonly<
  | { kind: 'response'; status: number; retryAfter: string | null; body: Buffer }
  | { kind: 'too-large' }
  /** There was no room for all of it beside the answers that are held already. */
  | { kind: 'no-room' }
  | { kind: 'transport'; wasSent: boolean; timedOut: boolean; cause: unknown }
  | { kind: 'aborted'; wasSent: boolean }
>;

/** Hears what a request came to, once; maybe before it was returned. Must not throw. */
export interface ExchangeListener {
  /** @returns whether it may be the answer: if not, nothing more is sent over the connection that it came over. */
  onExchange(exchange: Exchange): boolean;
}

/** The hold on a long body that is handed over while it comes. */
export interface BodyFlow {
  /** Nothing more for now. A piece may be on its way still. */
  pause(): void;
  resume(): void;
  /** Nothing more at all: the connection is closed, and nothing is told. */
  stop(): void;
}

/** Gets a long body while it comes. Must not throw. */
export interface BodyListener {
  /** The next bytes, which are whoever's heard them. */
  onData(bytes: Buffer): void;
  /** @returns whether it may be the answer, as `exchanged`. */
  onEnd(): boolean;
  /** What has ended it: never a response. */
  onError(exchange: Exchange): void;
}

/** What a node is asked, and who wants to know. */
export interface NodeRequest extends ExchangeListener {
  readonly id: number;
  readonly method: string;
  /** Raw JSON text; null leaves the member out. */
  readonly params: Buffer | null;
  /** It may be sent behind others before they are answered: it does no harm twice, and takes no long time. */
  readonly canPipeline: boolean;
  /** It takes a long body while it comes, by `began`. */
  readonly acceptsStream: boolean;
  /**
   * A long body with HTTP status 200 has begun; its flow is paused. Asked once.
   * @param start - how it begins.
   * @param bytes - how long it will be; null when only its end will tell.
   * @returns who gets the rest, in place of `exchanged`; null to have it whole after all.
   */
  onStreamStart(start: Buffer, bytes: number | null, flow: BodyFlow): BodyListener | null;
}

/** A request that is under way. */
export interface PendingRequest {
  /** Ends it, if it has not ended: it came to `aborted`. */
  abort(): void;
  /** Its time is up: it comes to a timeout soon, unless it is answered before. */
  expire(): void;
}

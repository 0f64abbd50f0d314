/** Limits of whoever keeps a `GrpcStream` to a server. Times in milliseconds, sizes in bytes. */
export type GrpcStreamLimits = Readonly<{
  /** From the first packet until a server accepts the stream. */
  connectTimeoutMs: number;
  /** Between two of our HTTP/2 pings. */
  pingIntervalMs: number;
  /** How long a server may take to answer one. */
  pongTimeoutMs: number;
  /** The longest message that is taken, before and after decompression. */
  messageMaxBytes: number;
  /** What a server may send ahead of our reading, for the stream and for the connection. */
  windowBytes: number;
  /** How long a stream may tell of no new slot. */
  stallMs: number;
  /** Pause before a server is connected to again; doubles with each failure. */
  reconnectMs: number;
  reconnectMaxMs: number;
}>;

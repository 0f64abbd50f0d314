export const restLimits = {
  /** Per key family and endpoint group. Source: interface.md, "Limits". */
  requestsPerMinute: 600,
  /** Concurrent requests per key family. */
  keyInFlightMax: 100,
  /** Concurrent upstream calls per network; further calls are queued. */
  callsInFlightMax: 256,
  /** Concurrent upstream calls per network and key family. */
  keyCallsInFlightMax: 32,
  answerMaxBytes: 8 * 1024 * 1024,
  answersMaxBytes: 64 * 1024 * 1024,
  timeoutMs: 120_000,
  /** Timeout for a request with an upload, which may be slow. */
  uploadTimeoutMs: 40 * 60_000,
  familiesMax: 100_000,
};

export type RestLimits = Readonly<typeof restLimits>;

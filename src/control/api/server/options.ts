/** What bounds the control API. */
export type ControlApiOptions = Readonly<{
  /** Bytes of a request's body. */
  bodyMaxBytes: number;
  /** Requests that are answered at a time, streams of answers among them. */
  requestsMax: number;
  /** Answers that go on, such as live tails, at a time. */
  streamsMax: number;
  /** Milliseconds after which a live tail that is silent gets a comment, so that nobody takes it for dead. */
  heartbeatMs: number;
}>;

/** What holds unless something else is set. */
export const controlApiOptions: ControlApiOptions = {
  bodyMaxBytes: 256 * 1_024,
  requestsMax: 500,
  streamsMax: 100,
  heartbeatMs: 15_000,
};

/** What bounds the control API. */
export type ControlApiOptions = Readonly<{
  /** Bytes of a request's body. */
  bodyMaxBytes: number;
  /** Milliseconds that a body may take to arrive. */
  bodyTimeoutMs: number;
  /** Requests that are answered at a time. As many bodies may be arriving besides. */
  requestsMax: number;
  /** Those of one site: an address of IPv4, 64 bits of IPv6; of bodies too. */
  siteRequestsMax: number;
  /** Answers that go on, such as live tails, at a time. */
  streamsMax: number;
  /** Those of one user or token. As many are there for operators besides `streamsMax`. */
  callerStreamsMax: number;
  /** Milliseconds after which a live tail that is silent gets a comment, so that nobody takes it for dead. */
  heartbeatMs: number;
  /** Milliseconds from one look whether who follows a live tail still may, to the next. */
  recheckMs: number;
}>;

/** What holds unless something else is set. */
export const controlApiOptions: ControlApiOptions = {
  bodyMaxBytes: 256 * 1_024,
  bodyTimeoutMs: 5_000,
  requestsMax: 500,
  siteRequestsMax: 100,
  streamsMax: 100,
  callerStreamsMax: 10,
  heartbeatMs: 15_000,
  recheckMs: 1_000,
};

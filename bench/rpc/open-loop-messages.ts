/** Command to the open loop. */
export type OpenLoopOrder = Readonly<{
  port: number;
  /** Values of the Authorization header, used in turn. */
  credentials: readonly string[];
  /** Requests per second. */
  rate: number;
  seconds: number;
  connections: number;
}>;

/** Result of the open loop. */
export type OpenLoopWord = Readonly<{
  requests: number;
  failures: number;
  p50Ms: number;
  p99Ms: number;
  /** Delay of the loop itself, which is not attributed to the server. */
  lateP99Ms: number;
}>;

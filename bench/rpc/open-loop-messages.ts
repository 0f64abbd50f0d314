/** What the open loop is told to do, once at a time. */
export type OpenLoopOrder = Readonly<{
  port: number;
  keys: readonly string[];
  /** Requests a second. */
  rate: number;
  seconds: number;
  connections: number;
}>;

/** What came of it. */
export type OpenLoopWord = Readonly<{
  requests: number;
  failures: number;
  p50Ms: number;
  p99Ms: number;
  /** How late the loop itself was, which counts against nobody. */
  lateP99Ms: number;
}>;

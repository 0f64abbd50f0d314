/** One attempt to call a node. Times are on the `performance.now()` clock. */
export type CallAttempt = Readonly<{
  node: string;
  startedAt: number;
  endedAt: number;
  /** `ok` or a short description. Never contains text sent by a node. */
  outcome: string;
}>;

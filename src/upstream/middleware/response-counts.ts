/** How calls were answered, and what is kept. Plain numbers, added to as calls go by. */
export class ResponseCounts {
  /** Answered by what is known of slots. */
  heads = 0;
  /** Answered by what was kept in memory. */
  hits = 0;
  /** Looked for in memory, and not found. */
  misses = 0;
  /** Answered by a call that was on its way already. */
  shared = 0;
  /** Answered by what several gateways keep together. */
  stored = 0;
  /** Looked for there in vain: not there, not told in time, or not to be had. */
  unstored = 0;
  /** Answers that were older than what their reader had been told, so that another was asked for. */
  backward = 0;
}

export class ResponseCounts {
  /** Answered by the slot cache. */
  heads = 0;
  /** Answered by the memory cache. */
  hits = 0;
  misses = 0;
  /** Joined a call in flight. */
  shared = 0;
  /** Answered by the disk or Redis. */
  stored = 0;
  /** Absent from a store, or the store timed out. */
  unstored = 0;
  /** Responses rejected as older than the session's minimum slot. */
  backward = 0;
}

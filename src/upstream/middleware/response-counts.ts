export class ResponseCounts {
  /** Answered by the slot cache. */
  heads = 0;
  /** Answered by the memory cache. */
  hits = 0;
  misses = 0;
  /** Joined a call in flight. */
  shared = 0;
  /** Answered by the disk cache or Redis. */
  stored = 0;
  /** Looked up in a store that held no valid response or timed out. */
  unstored = 0;
  /** Responses rejected as older than the session's minimum slot. */
  backward = 0;
}

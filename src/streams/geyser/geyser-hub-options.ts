/** Times in milliseconds, sizes in bytes. */
export const geyserHubOptions = {
  /** Slots behind the newest that a replay may start at; 0 disables replay. */
  replaySlots: 150,
  /** Memory of all stored slots. */
  replayMaxBytes: 512 * 1024 * 1024,
  /** Slots behind the newest that wait for their commitment; older ones never get it. */
  waitingSlotsMax: 512,
  /** Unread bytes above which a replay pauses. */
  replayAheadBytes: 1024 * 1024,
  /** Pause before a slow client is checked again. */
  replayPauseMs: 5,
  /** Concurrent replays; others wait until one catches up or its client stops reading. */
  replaysMax: 32,
  /** Timeout of the backfill of a replaying stream. */
  replayReadyTimeoutMs: 60_000,
  /** Spent on blocks per event loop turn; the first message is always sent. */
  blocksTimeSliceMs: 5,
  /** Incomplete blocks per stream; one more ends it. */
  blocksWaitingMax: 64,
  /** Messages queued behind blocks per stream; one more ends it. */
  behindBlocksMaxMessages: 250_000,
  /** Bytes of these messages; above it, the next one ends the stream. */
  behindBlocksMaxBytes: 64 * 1024 * 1024,
  /** Response of GetVersion, as JSON text. */
  version: '{}',
};

export type GeyserHubOptions = Readonly<typeof geyserHubOptions>;

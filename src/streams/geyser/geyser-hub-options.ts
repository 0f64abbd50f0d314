/** Times in milliseconds, sizes in bytes. */
export const geyserHubOptions = {
  /** Maximum age of a replay's first slot, in slots behind the newest; 0 disables replay. */
  replaySlots: 150,
  /** Maximum memory for all stored slots. */
  replayMaxBytes: 512 * 1024 * 1024,
  /** Maximum age of a slot that awaits its commitment, in slots behind the newest; older slots are dropped. */
  waitingSlotsMax: 512,
  /** Unread bytes above which a replay pauses. */
  replayAheadBytes: 1024 * 1024,
  /** Pause before a slow client is checked again. */
  replayPauseMs: 5,
  /** Maximum concurrent replays. Further replays wait until one catches up or its client stops reading. */
  replaysMax: 32,
  /** Timeout for the backfill of a replaying stream. */
  replayReadyTimeoutMs: 60_000,
  /** Time spent on blocks per event loop turn; at least one message is always sent. */
  blocksTimeSliceMs: 5,
  /** Maximum pending blocks per stream; one more ends the stream. */
  blocksWaitingMax: 64,
  /** Maximum messages queued behind blocks per stream; one more ends the stream. */
  behindBlocksMaxMessages: 250_000,
  /** Maximum bytes queued behind blocks per stream; above this size, the next message ends the stream. */
  behindBlocksMaxBytes: 64 * 1024 * 1024,
  /** Response to GetVersion, as JSON text. */
  version: '{}',
};

export type GeyserHubOptions = Readonly<typeof geyserHubOptions>;

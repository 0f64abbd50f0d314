/** Limits for WebSocket subscriptions that Geyser serves. Times in milliseconds. */
export const geyserLimits = {
  /** Maximum distinct filters per program. Above this, all accounts of the program are requested. */
  programFiltersMax: 8,
  rootTimeoutMs: 2_000,
  seenSlotsMax: 512,
  /** Maximum updates held back while a slot is missing or a mint is being fetched. */
  gapBufferMax: 10_000,
  mintsMax: 10_000,
  /** A Token-2022 mint is cached for this long, because its scale may change. */
  mintMaxAgeMs: 60_000,
  /** Maximum total wait for mints per `mintRetryMs`. Beyond this, accounts of unknown mints are not parsed. */
  mintWaitMs: 500,
  /** Pause after a failed mint fetch; also the timeout of a fetch. */
  mintRetryMs: 5_000,
  mintFetchesMax: 16,
};

export type GeyserLimits = Readonly<typeof geyserLimits>;

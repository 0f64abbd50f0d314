/** Limits of WebSocket subscriptions that Geyser feeds. Times in milliseconds. */
export const geyserLimits = {
  /** Distinct filters; above it, the whole program is requested. */
  programFiltersMax: 8,
  rootTimeoutMs: 2_000,
  seenSlotsMax: 512,
  /** Updates held above a missing slot, or while a mint is fetched. */
  heldMax: 10_000,
  mintsMax: 10_000,
  /** Lifetime of a Token-2022 mint, whose scale may change. */
  mintMaxAgeMs: 60_000,
  /** Maximum total wait for mints per `mintRetryMs`; above it, accounts are encoded in base64. */
  mintWaitMs: 500,
  /** Pause after a failed mint fetch; also its timeout. */
  mintRetryMs: 5_000,
  mintFetchesMax: 16,
};

export type GeyserLimits = Readonly<typeof geyserLimits>;

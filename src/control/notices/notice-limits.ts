/** How customers are told. Times in milliseconds. */
export type NoticeLimits = Readonly<{
  /** How often it is looked whether a quota has come to what is told of. */
  watchIntervalMs: number;
  /** How often it is looked whether something is to be handed over. */
  pollIntervalMs: number;
  /** Notices that are being handed over at a time. */
  inFlightMax: number;
  /** One handing over. */
  timeoutMs: number;
  /** How often a notice is tried before it is given up. */
  triesMax: number;
  /** The first pause between two tries; each is four times as long as the one before, up to the longest. */
  retryMs: number;
  retryMaxMs: number;
  /** Webhooks and addresses of a customer. */
  targetsMax: number;
  /** From one thing that is handed over to a target to the next test of it. */
  testIntervalMs: number;
  /** How long it is kept what was told. */
  retentionDays: number;
}>;

/** What holds when nothing else is said. */
export const noticeLimits: NoticeLimits = {
  watchIntervalMs: 1_000,
  pollIntervalMs: 2_000,
  inFlightMax: 8,
  timeoutMs: 10_000,
  triesMax: 8,
  retryMs: 10_000,
  retryMaxMs: 3_600_000,
  targetsMax: 10,
  testIntervalMs: 5_000,
  retentionDays: 400,
};

/** Parts of a quota, in percent, of which customers are told once a month each. */
export const NOTICE_PERCENTS = [80, 95, 100] as const;

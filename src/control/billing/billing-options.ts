export const statementOptions = {
  checkIntervalMs: 600_000,
  /** How long after its end a month is closed: gateways may still store usage of it. */
  closeDelayMs: 24 * 3_600_000,
  leaseMs: 60_000,
};

export type StatementOptions = Readonly<typeof statementOptions>;

export const stripePusherOptions = {
  /** Interval of looking for complete hours and due events. */
  pushIntervalMs: 60_000,
  /** How long after its end an hour is queued: gateways may still store usage of it. */
  hourDelayMs: 300_000,
  retryMs: 60_000,
  retryMaxMs: 3_600_000,
  /** Longer than the timeout of a request. */
  eventLeaseMs: 120_000,
  inFlightMax: 8,
  /** Stripe ensures the uniqueness of identifiers for 24 hours. */
  outcomeUnknownMaxMs: 23 * 3_600_000,
  /** Stripe accepts events of the past 35 days. */
  ageMaxMs: 35 * 24 * 3_600_000 - 3_600_000,
};

export const stripeComparisonOptions = {
  /** Interval between searches for customers that were not compared within a day. */
  compareIntervalMs: 600_000,
  /** Longer than the requests for a few customers. */
  compareLeaseMs: 300_000,
  /** Time after the end of a month until its last comparison. */
  compareClosedMs: 36 * 3_600_000,
};

export type StripeComparisonOptions = Readonly<typeof stripeComparisonOptions>;

export type StripePusherOptions = Readonly<typeof stripePusherOptions>;

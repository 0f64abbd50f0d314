export const statementOptions = {
  checkIntervalMs: 600_000,
  /** How long after its end a month is closed: gateways may still store usage of it. */
  closeDelayMs: 24 * 3_600_000,
  leaseMs: 60_000,
};

export type StatementOptions = Readonly<typeof statementOptions>;

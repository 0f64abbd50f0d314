export const alertOptions = {
  alertIntervalMs: 2_000,
  /** How long a problem must last before it becomes an alert. */
  alertAfterMs: 10_000,
  /** How long a problem must be gone before its alert is resolved. */
  resolveAfterMs: 30_000,
  alertRetentionDays: 90,
  /** Stored alerts that are resolved. */
  resolvedAlertsMax: 10_000,
};

export type AlertOptions = Readonly<typeof alertOptions>;

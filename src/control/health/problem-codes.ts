/** In order of urgency. */
export const problemCodes = [
  'no_ready_node',
  'database_unavailable',
  'clickhouse_unavailable',
  'disk_full',
  'usage_loss',
  'stripe_push',
  'stripe_totals',
  'error_rate',
  'stream_lag',
  'node_unhealthy',
  'clickhouse_rows_rejected',
  'log_loss',
  'quota_spent',
] as const;
export type ProblemCode = (typeof problemCodes)[number];

export const severities = ['error', 'warning'] as const;
export type Severity = (typeof severities)[number];

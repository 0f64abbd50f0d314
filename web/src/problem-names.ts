import type { ProblemJson } from '../../src/control/api/contract/health.ts';

export const problemNames: Readonly<Record<ProblemJson['code'], string>> = {
  no_ready_node: 'No ready node',
  database_unavailable: 'Database unavailable',
  clickhouse_unavailable: 'ClickHouse unavailable',
  clickhouse_rows_rejected: 'Rows rejected by ClickHouse',
  disk_full: 'Disk nearly full',
  stripe_push: 'Stripe usage reporting failing',
  stripe_totals: 'Stripe totals differ',
  usage_loss: 'Usage lost',
  error_rate: 'High error rate',
  stream_lag: 'Stream lag',
  node_unhealthy: 'Unhealthy node',
  log_loss: 'Log entries lost',
  quota_spent: 'Quota exhausted',
};

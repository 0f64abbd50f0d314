import type { Schema } from '../schema.ts';

/** A table of a backup: its rows are read in the order of these columns, which name each row. */
export type BackupTable = Readonly<{ name: string; key: readonly string[] }>;

/**
 * Every table but the list of migrations, with its primary key, in an order in which rows may be put in: what refers to
 * others comes behind them. A table that is missing here does not compile; null are those that only tell of what runs at
 * the moment.
 */
const keysOfTables = {
  change_counter: ['id'],
  pepper: ['version'],
  plan: ['id'],
  customer: ['id'],
  auth_user: ['id'],
  auth_session: ['id'],
  auth_account: ['id'],
  auth_verification: ['id'],
  auth_two_factor: ['id'],
  auth_tried_code: null,
  member: ['customer_id', 'user_id'],
  invitation: ['id'],
  admin_token: ['id'],
  api_key: ['id'],
  usage_minute: ['minute', 'epoch', 'key_id', 'product', 'method', 'status'],
  usage_hour: ['hour', 'key_id', 'product', 'method', 'status'],
  usage_day: ['day', 'key_id', 'product', 'method', 'status'],
  usage_total: ['customer_id', 'step', 'bucket', 'plan_id', 'product', 'status'],
  usage_method: ['customer_id', 'step', 'bucket', 'method', 'product', 'status'],
  usage_mark: ['kind', 'bucket', 'epoch'],
  usage_horizon: ['step'],
  usage_epoch: ['epoch'],
  usage_seen: ['hour', 'epoch'],
  usage_check: ['name'],
  usage_claim: null,
  audit: ['id'],
  semi_wallet: ['owner_id', 'address'],
  notice_target: ['id'],
  quota_notice: ['month', 'customer_id', 'plan_id', 'percent'],
  notice_delivery: ['id'],
  request_log: ['id'],
  submission: ['id'],
  node_cordon: ['network', 'node'],
  upstream_node: ['name'],
  lagged_minute: null,
  gateway: null,
  connection: null,
  connection_close: null,
} as const satisfies Record<Exclude<keyof Schema, 'schema_migration'>, readonly string[] | null>;

/** All tables that a backup has. */
export const backupTables: readonly BackupTable[] = Object.entries(keysOfTables).flatMap(([name, key]) =>
  key === null ? [] : [{ name, key }],
);

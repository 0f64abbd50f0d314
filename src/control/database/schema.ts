import type { KeyStatus } from '../../gateway/auth/key-record.ts';
import type { Product } from '../../protocol/product.ts';
import type { AccountTables } from './tables/accounts.ts';
import type { AlertTables } from './tables/alerts.ts';
import type { BillingTables } from './tables/billing.ts';
import type { NodeHistoryTables } from './tables/node-history.ts';
import type { NodeTables } from './tables/nodes.ts';
import type { NoticeTables } from './tables/notices.ts';
import type { RequestTables } from './tables/requests.ts';
import type { UsageCounters, UsageLabels, UsageTables } from './tables/usage.ts';

/**
 * Tables, the same for both dialects. Times are Unix milliseconds, flags are 0 or 1, digests are hex text, and integers
 * are below 2^53.
 */
export interface Schema
  extends AccountTables,
    UsageTables,
    RequestTables,
    NoticeTables,
    NodeTables,
    AlertTables,
    NodeHistoryTables,
    BillingTables {
  schema_migration: { number: number; name: string; applied_at: number };
  change_counter: { id: number; version: number };
  /** Used to detect a wrong pepper at startup. */
  pepper: {
    version: number;
    /** HMAC of a fixed text, keyed with the pepper, hex. Does not reveal the pepper. */
    proof: string;
  };
  plan: PlanTable;
  api_key: KeyTable;
  usage_minute: UsageMinuteTable;
  audit: AuditTable;
  /** Semi-custodial wallets; passwords are not stored. */
  semi_wallet: {
    /** Id of the key family. */
    owner_id: string;
    address: string;
    pepper_version: number;
    /** Envelope, sealed by json-seal.ts. */
    wrapped: string;
    created_at: number;
    changed_at: number;
  };
}

/** Stores `PlanLimits` from gateway/auth/key-record.ts. */
export interface PlanTable {
  id: string;
  name: string;
  rpc_per_second: number;
  rpc_burst: number;
  ws_connections_max: number;
  ws_subscriptions_max: number;
  ws_message_max_bytes: number;
  grpc_streams_max: number;
  grpc_filters_max: number;
  grpc_blocks_max: number;
  grpc_pubkeys_max: number;
  grpc_cuckoo_max_bytes: number;
  /** 0: no quota. */
  monthly_credits: number;
  /** 0: reaching the quota only sends notifications; calls are not rejected. */
  quota_is_hard: number;
  /** Credits per 100,000 bytes of streamed messages. */
  stream_credits: number;
  /** JSON object that maps methods to credits. Overrides the default prices. */
  prices: string;
  version: number;
  /** null: may be assigned to customers and keys. */
  archived_at: number | null;
}

/** API keys without their secrets. Includes revoked keys. */
export interface KeyTable {
  /** Public part of the key: 8 base58 characters. */
  id: string;
  family_id: string;
  product: Product;
  name: string;
  /** HMAC-SHA-256 of the full key, hex. */
  digest: string;
  pepper_version: number;
  state: KeyStatus;
  plan_id: string;
  created_at: number;
  expires_at: number | null;
  /** Id of the successor in a rotation. */
  replaced_by: string | null;
  /** Accurate to half a minute. Updates do not change `version`. */
  last_used_at: number | null;
  last_used_from: string | null;
  customer_id: string;
  is_public: number;
  /** This and the next three columns are comma-separated lists; empty: unrestricted. */
  networks: string;
  cidrs: string;
  origins: string;
  methods: string;
  /** At most the plan's rate; null: the plan's rate. */
  rate_per_second: number | null;
  rate_burst: number | null;
  /** Calls per second from one address; null: no separate limit. */
  address_per_second: number | null;
  /** 1: the request log stores the beginning of parameters and results. */
  logs_bodies: number;
  /** 1: monotonic reads. */
  never_back: number;
  leaked_at: number | null;
  version: number;
}

/** Running totals of each process per minute. Readers must sum over `epoch`. */
export interface UsageMinuteTable extends UsageCounters, UsageLabels {
  /** Minutes since the Unix epoch. */
  minute: number;
  /** Id of a process run. */
  epoch: string;
  /** Empty for calls without a known key. */
  key_id: string;
  /** Customer at the time of the call. Without a valid key, the built-in customer; empty if the store lacks the key. */
  customer_id: string;
  plan_id: string;
  product: Product;
  method: string;
}

/** Append-only. `id` is the value of the change counter, so ids follow the order of changes. */
export interface AuditTable {
  id: number;
  at: number;
  actor: string;
  action: string;
  key_id: string | null;
  /** JSON object without secrets. */
  detail: string;
  /** null: the entry concerns no customer. */
  customer_id: string | null;
  /** null: the change was made on the service's own machine, for example at the command line. */
  address: string | null;
  user_agent: string | null;
  request_id: string | null;
}

import type { KeyStatus } from '../../gateway/auth/key-record.ts';
import type { UsageStatus } from '../../gateway/metering/usage-meter.ts';
import type { Product } from '../../protocol/product.ts';
import type { AccountTables } from './tables/accounts.ts';
import type { NodeTables } from './tables/nodes.ts';
import type { NoticeTables } from './tables/notices.ts';
import type { RequestTables } from './tables/requests.ts';
import type { UsageCounters, UsageTables } from './tables/usage.ts';

/**
 * Tables, alike for both dialects: times are Unix milliseconds, flags 0 or 1, bytes hex text, integers below
 * 2^53.
 */
export interface Schema extends AccountTables, UsageTables, RequestTables, NoticeTables, NodeTables {
  schema_migration: { number: number; name: string; applied_at: number };
  change_counter: { id: number; version: number };
  /** Detects a wrong pepper at start. */
  pepper: {
    version: number;
    /** HMAC of a fixed text under the pepper, hex. Does not reveal the pepper. */
    proof: string;
  };
  plan: PlanTable;
  api_key: KeyTable;
  usage_minute: UsageMinuteTable;
  audit: AuditTable;
  /** Semi-custodial wallets; passwords are not stored. */
  semi_wallet: {
    /** Key family. */
    owner_id: string;
    address: string;
    pepper_version: number;
    /** Envelope, sealed by json-seal.ts. */
    wrapped: string;
    created_at: number;
    changed_at: number;
  };
}

/** `PlanLimits` of gateway/auth/key-record.ts. */
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
  /** 0: calls beyond the quota are reported, not rejected. */
  quota_is_hard: number;
  /** Credits per 100,000 bytes of streamed messages. */
  stream_credits: number;
  /** JSON object: method → credits, overriding the default prices. */
  prices: string;
  version: number;
}

/** API keys, including revoked ones, without secrets. */
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
  /** To within half a minute; does not change `version`. */
  last_used_at: number | null;
  last_used_from: string | null;
  customer_id: string;
  is_public: number;
  /** Lists joined by commas; empty: unrestricted. */
  networks: string;
  cidrs: string;
  origins: string;
  methods: string;
  /** At most the plan's; null: the plan's. */
  rate_per_second: number | null;
  rate_burst: number | null;
  /** Calls per second from one address, for public keys. */
  address_per_second: number | null;
  /** The request log stores the start of parameters and results. */
  logs_bodies: number;
  /** Monotonic reads. */
  never_back: number;
  leaked_at: number | null;
  version: number;
}

/** Running totals of one process per minute; sum over `epoch` when reading. */
export interface UsageMinuteTable extends UsageCounters {
  /** Unix minutes. */
  minute: number;
  /** Process run. */
  epoch: string;
  /** Empty for calls without a valid key. */
  key_id: string;
  /** At the time of the call; without a key the built-in customer, for unknown keys empty. */
  customer_id: string;
  plan_id: string;
  product: Product;
  method: string;
  status: UsageStatus;
}

/** Append-only. `id` is the value of the change counter, so entries are in the order of changes. */
export interface AuditTable {
  id: number;
  at: number;
  actor: string;
  action: string;
  key_id: string | null;
  /** JSON object without secrets. */
  detail: string;
  /** null: the operator's own. */
  customer_id: string | null;
  /** null: command line. */
  address: string | null;
  user_agent: string | null;
  request_id: string | null;
}

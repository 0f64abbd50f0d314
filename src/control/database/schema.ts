import type { KeyStatus } from '../../gateway/auth/key-record.ts';
import type { UsageStatus } from '../../gateway/metering/usage-meter.ts';
import type { Product } from '../../protocol/product.ts';
import type { AccountTables } from './tables/accounts.ts';
import type { NodeTables } from './tables/nodes.ts';
import type { NoticeTables } from './tables/notices.ts';
import type { RequestTables } from './tables/requests.ts';
import type { UsageTables } from './tables/usage.ts';

/**
 * The tables as Kysely sees them. Both dialects give the same JavaScript: integers are numbers (times in Unix
 * milliseconds, counters below 2^53), bytes are hex text. Column names stay as they are in the database.
 */
export interface Schema extends AccountTables, UsageTables, RequestTables, NoticeTables, NodeTables {
  schema_migration: { number: number; name: string; applied_at: number };
  change_counter: { id: number; version: number };
  pepper: PepperTable;
  plan: PlanTable;
  api_key: KeyTable;
  usage_minute: UsageMinuteTable;
  audit: AuditTable;
  semi_wallet: SemiWalletTable;
}

/** Which peppers the stored digests were made with, so that a wrong one is noticed at start. */
export interface PepperTable {
  version: number;
  /** HMAC of a fixed text under the pepper, hex. Tells nothing about the pepper. */
  proof: string;
}

/** What keys may do: the limits are those of `PlanLimits` in access/key-record.ts, with their units. */
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
  /** 0: what goes beyond the quota is told, not refused. */
  quota_is_hard: number;
  /** Credits for each 100,000 bytes of messages that are sent without asking again. */
  stream_credits: number;
  /** JSON object: method → credits, in place of what the table of methods says. */
  prices: string;
  version: number;
}

/** Keys, revoked ones too; never their secrets. Times are Unix milliseconds. */
export interface KeyTable {
  /** The public part of the key: 8 base58 characters. */
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
  /** Id of the key that took over at rotation. */
  replaced_by: string | null;
  /** Within half a minute of the truth; not a change of the key, so `version` stays. */
  last_used_at: number | null;
  /** The address of that use. */
  last_used_from: string | null;
  customer_id: string;
  /** 1: meant for browsers, so it is no secret: bound to origins, with a limit for each address. */
  is_public: number;
  /** Lists joined by commas; empty: everything is allowed. */
  networks: string;
  cidrs: string;
  origins: string;
  methods: string;
  /** In place of the plan's, and never more than it allows; null: the plan's. */
  rate_per_second: number | null;
  rate_burst: number | null;
  /** Calls a second from one address, for public keys. */
  address_per_second: number | null;
  /** 1: the request log keeps the start of parameters and results. */
  logs_bodies: number;
  /** 1: no read is of an older slot than the one before. */
  never_back: number;
  /** When somebody reported the key as leaked. */
  leaked_at: number | null;
  version: number;
}

/** Totals of one process for one minute, which only grow; sum over `epoch` when reading. */
export interface UsageMinuteTable {
  /** Unix minutes. */
  minute: number;
  /** Names one run of one process. */
  epoch: string;
  /** Empty for calls without a valid key. */
  key_id: string;
  /** The key's at that time; of calls without one the house's, of keys that are not in the store empty. */
  customer_id: string;
  plan_id: string;
  product: Product;
  method: string;
  status: UsageStatus;
  requests: number;
  bytes_in: number;
  bytes_out: number;
  credits: number;
  /** Messages of subscriptions and streams that were handed to sockets; their bytes are among bytes_out. */
  messages: number;
  /** Histogram of base/histogram.ts as `bucket:count` pairs, ascending, joined by commas. */
  latency: string;
}

/** Append-only. `id` is the change counter's value, so audit lines stand in the order of the changes. */
export interface AuditTable {
  id: number;
  at: number;
  actor: string;
  action: string;
  key_id: string | null;
  /** JSON object; never a secret. */
  detail: string;
  /** Whose it concerns; null for the house's own. */
  customer_id: string | null;
  /** From where it was done; null at the command line. */
  address: string | null;
  user_agent: string | null;
  request_id: string | null;
}

/** Semi-custodial wallets: keypairs under passwords that are nowhere. Times are Unix milliseconds. */
export interface SemiWalletTable {
  /** The key family that it belongs to. */
  owner_id: string;
  address: string;
  /** The pepper from which the server's key was derived. */
  pepper_version: number;
  /** The envelope under the server's key, base64: semi-wallets/wrap.ts. */
  wrapped: string;
  created_at: number;
  /** When the password was last set. */
  changed_at: number;
}

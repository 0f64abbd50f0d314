import type { Brand } from '../../base/brand.ts';
import type { Network } from '../../protocol/call.ts';
import type { Product } from '../../protocol/product.ts';

/** The public part of a key: 8 base58 characters. What logs, metrics and lists show. */
export type KeyId = Brand<string, 'KeyId'>;

/** Stored states. `expired` is not stored: it is `expiresAt` in the past. */
export const keyStatuses = ['active', 'rotating', 'disabled', 'revoked'] as const;
export type KeyStatus = (typeof keyStatuses)[number];

/** What a key's plan allows. */
export type PlanLimits = Readonly<{
  /** Sustained JSON-RPC calls per second; 0 means no limit. */
  rpcPerSecond: number;
  /** Calls that may come at once on top of nothing used. */
  rpcBurst: number;
  /** WebSocket connections of a key family, open at a time, in one process or over all that share limits. */
  wsConnectionsMax: number;
  /** Subscriptions of one WebSocket connection, open at a time. */
  wsSubscriptionsMax: number;
  /** Bytes of one WebSocket message from the client. */
  wsMessageMaxBytes: number;
  /** gRPC streams of a key family, open at a time, in one process or over all that share limits. */
  grpcStreamsMax: number;
  /** Filters in one request of a gRPC stream. */
  grpcFiltersMax: number;
  /** Filters of whole blocks in one request of a gRPC stream: each is a message of its own for every block. */
  grpcBlocksMax: number;
  /** Addresses in all filters of one request of a gRPC stream. */
  grpcPubkeysMax: number;
  /** Bytes of all cuckoo filters in one request of a gRPC stream. */
  grpcCuckooMaxBytes: number;
  /** Credits that a customer's keys of this plan share in a calendar month (UTC); 0 means no quota. */
  monthlyCredits: number;
  /** Whether what goes beyond the quota is refused; else it is only told. */
  quotaIsHard: boolean;
  /** Credits for each 100,000 bytes of messages that are sent without asking again. */
  streamCredits: number;
  /** Credits of single methods, in place of what the table of methods says. */
  prices: Readonly<Record<string, number>>;
}>;

/** What a plan allows when nothing else is said. */
export const defaultPlanLimits: PlanLimits = {
  rpcPerSecond: 1_000,
  rpcBurst: 2_000,
  wsConnectionsMax: 100,
  wsSubscriptionsMax: 1_000,
  wsMessageMaxBytes: 1_048_576,
  grpcStreamsMax: 100,
  grpcFiltersMax: 1_000,
  grpcBlocksMax: 10,
  grpcPubkeysMax: 50_000,
  grpcCuckooMaxBytes: 2_097_152,
  monthlyCredits: 0,
  quotaIsHard: true,
  streamCredits: 0,
  prices: {},
};

/** What a key may be used for beside its product; null where everything is. Lists are never empty. */
export type KeyRules = Readonly<{
  networks: readonly Network[] | null;
  /** Addresses that may use it: `192.0.2.0/24`, `2001:db8::/32`, or one address. */
  cidrs: readonly string[] | null;
  /** Web pages that may use it: `https://app.example.com` or `https://*.example.com`. A call without one is refused. */
  origins: readonly string[] | null;
  /** Methods and endpoints by their names; a `*` at the end stands for any rest. */
  methods: readonly string[] | null;
}>;

/** A key that may be used for everything. */
export const unrestrictedRules: KeyRules = { networks: null, cidrs: null, origins: null, methods: null };

/** A key as the gateway holds it in memory. The secret itself is nowhere. */
export type KeyRecord = Readonly<{
  id: KeyId;
  product: Product;
  /** Keys of one family (a key and its rotations) share limits, quota and usage. */
  familyId: string;
  name: string;
  /** HMAC-SHA-256 of the full key under the pepper of `pepperVersion`; 32 bytes. */
  digest: Buffer;
  pepperVersion: number;
  status: KeyStatus;
  /** Unix milliseconds; null = never. A rotating key always has one. */
  expiresAt: number | null;
  /** Those of the plan, with the key's own rate where it has one. */
  limits: PlanLimits;
  customerId: string;
  planId: string;
  rules: KeyRules;
  /** Calls a second that one address may make with it; null: as many as the key. */
  addressPerSecond: number | null;
  /** Whether the request log keeps the start of parameters and results. */
  logsBodies: boolean;
  /** Whether none of its reads may be of an older slot than the one before: all that it asks is one session. */
  monotonicReads: boolean;
  /** Grows with every change of any key; lets a late look-up lose against a newer change. */
  version: number;
}>;

/** What a record says of a key that the house holds under the usual plan and without rules of its own. */
export const internalKey = {
  customerId: 'house',
  planId: 'default',
  rules: unrestrictedRules,
  addressPerSecond: null,
  logsBodies: false,
  monotonicReads: false,
} as const satisfies Partial<KeyRecord>;

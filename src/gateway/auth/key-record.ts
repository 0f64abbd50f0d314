import type { Brand } from '../../base/brand.ts';
import type { Network } from '../../protocol/call.ts';
import type { Product } from '../../protocol/product.ts';

/** Public part of a key: 8 base58 characters, shown in logs, metrics and lists. */
export type KeyId = Brand<string, 'KeyId'>;

/** `expired` is not stored; it follows from an `expiresAt` in the past. */
export const keyStatuses = ['active', 'rotating', 'disabled', 'revoked'] as const;
export type KeyStatus = (typeof keyStatuses)[number];

export const defaultPlanLimits = {
  /** Sustained JSON-RPC calls per second; 0 means no limit. */
  rpcPerSecond: 1_000,
  /** Capacity of the token bucket, in calls. */
  rpcBurst: 2_000,
  /** Per key family: counted in one process or, if gateways share limits, across all of them. */
  wsConnectionsMax: 100,
  /** Per WebSocket connection. */
  wsSubscriptionsMax: 1_000,
  wsMessageMaxBytes: 1_048_576,
  /** Per key family, like `wsConnectionsMax`. */
  grpcStreamsMax: 100,
  /** This limit and the next three apply to each request on a gRPC stream. */
  grpcFiltersMax: 1_000,
  /** Maximum number of block filters; each block filter adds a message per block. */
  grpcBlocksMax: 10,
  /** Total number of addresses in all filters. */
  grpcPubkeysMax: 50_000,
  grpcCuckooMaxBytes: 2_097_152,
  /** Credits per calendar month (UTC), shared by a customer's keys on this plan; 0 means no quota. */
  monthlyCredits: 0,
  /** Whether requests beyond the quota are rejected instead of only reported. */
  quotaIsHard: true,
  /** Credits per 100,000 bytes of subscription and stream messages. */
  streamCredits: 0,
  /** Credits per method, overriding the method table. */
  prices: {} as Readonly<Record<string, number>>,
};

export type PlanLimits = Readonly<typeof defaultPlanLimits>;

/** Restrictions on a key. null: unrestricted. Lists are never empty. */
export type KeyRules = Readonly<{
  networks: readonly Network[] | null;
  /** Addresses and ranges: `192.0.2.0/24`, `2001:db8::/32`, or a single address. */
  cidrs: readonly string[] | null;
  /** `https://app.example.com` or `https://*.example.com`. Requests without an origin are rejected. */
  origins: readonly string[] | null;
  /** Allowed methods and endpoints; a trailing `*` matches any suffix. */
  methods: readonly string[] | null;
}>;

export const unrestrictedRules: KeyRules = { networks: null, cidrs: null, origins: null, methods: null };

export type KeyRecord = Readonly<{
  id: KeyId;
  product: Product;
  /** A key and its rotations form a family, which shares limits, quota and usage. */
  familyId: string;
  name: string;
  /** Digest of the full key, keyed with the pepper of version `pepperVersion`. */
  digest: Buffer;
  pepperVersion: number;
  status: KeyStatus;
  /** Unix milliseconds; null: never expires. Always set for a rotating key. */
  expiresAt: number | null;
  /** Limits of the plan; the key's own rate limit, if any, replaces that of the plan. */
  limits: PlanLimits;
  customerId: string;
  planId: string;
  rules: KeyRules;
  /** Calls per second per client address; null: only the key's own rate limit applies. */
  addressPerSecond: number | null;
  /** Whether the request log stores the start of parameters and results. */
  logsBodies: boolean;
  /** Whether all requests of the key form one session with monotonic reads. */
  monotonicReads: boolean;
  /** Value of a counter that grows with every change to any key; a late lookup cannot overwrite a newer version. */
  version: number;
}>;

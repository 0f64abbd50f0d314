import { readFileSync } from 'node:fs';
import type { Logger } from '../../base/log.ts';
import type { Configuration } from '../../config/configuration.ts';
import { describeRedisError } from '../../control/shared/describe-redis-error.ts';
import { RedisCacheClient } from '../../control/shared/redis-cache-client.ts';
import type { Network, RpcDispatcher } from '../../protocol/call.ts';
import type { CacheTtls } from '../../upstream/cache/cache-ttl.ts';
import { type CallKeyLimits, CallKeys } from '../../upstream/cache/call-key.ts';
import { MemoryCache, type MemoryCacheLimits } from '../../upstream/cache/memory-cache.ts';
import { RedisCache, type RedisCacheLimits } from '../../upstream/cache/redis-cache.ts';
import { ResponseCache } from '../../upstream/cache/response-cache.ts';
import { ResponseCounts } from '../../upstream/cache/response-counts.ts';
import { type CoalescerLimits, RequestCoalescer } from '../../upstream/coalesce/request-coalescer.ts';
import { UpstreamNode } from '../../upstream/node.ts';
import type { UpstreamPool } from '../../upstream/pool.ts';
import {
  MonotonicReads,
  type MonotonicReadsLimits,
  monotonicReadsLimits,
} from '../../upstream/slot-cache/monotonic-reads.ts';
import { SessionSlotTracker } from '../../upstream/slot-cache/session-slot-tracker.ts';
import { SlotCache } from '../../upstream/slot-cache/slot-cache.ts';
import type { SlotTracker } from '../../upstream/slots/slot-tracker.ts';
import { SubmitTargets } from '../../upstream/submit/submit-targets.ts';
import { TransactionSubmitter } from '../../upstream/submit/transaction-submitter.ts';

function sendOnlyNodes({ senders, upstreamPool }: Configuration): ReadonlyMap<Network, UpstreamNode[]> {
  // The section itself: nodes read their limits at each use, so that what is changed of them while the service runs holds.
  const nodes = senders.map((sender) => new UpstreamNode(sender, sender.network, upstreamPool));
  return Map.groupBy(nodes, ({ network }) => network);
}

/** Puts the sending of transactions in front of the nodes. */
export const openSending = (
  configuration: Configuration,
  pool: UpstreamPool,
  log: Logger,
): TransactionSubmitter =>
  new TransactionSubmitter({
    source: pool,
    targets: new SubmitTargets(pool, sendOnlyNodes(configuration)),
    limits: configuration.transactions,
    log,
  });

/** Counters of cached and coalesced calls. */
type Counters = Readonly<Record<string, () => number>>;

/** Middleware in front of the nodes. */
export type UpstreamMiddleware = Readonly<{
  source: RpcDispatcher;
  /** How calls were answered that may be spared. */
  outcomes: Counters;
  /** Current sizes. */
  usage: Counters;
  /** Answers that were forgotten to make room. */
  evictions: () => number;
  stop(): void;
}>;

export type UpstreamMiddlewareOptions = Readonly<{
  configuration: Configuration;
  source: RpcDispatcher;
  slots: SlotTracker;
  /** The embedded ledger is the only node: its changing state is not cached. */
  isLocalnetOnly: boolean;
  log: Logger;
}>;

function openRedis({ cache, shared }: Configuration, log: Logger): RedisCacheClient | null {
  if (!cache.enabled || cache.redisUrl === null) return null;
  return new RedisCacheClient({
    url: cache.redisUrl,
    ca: shared.tlsCa === null ? null : readFileSync(shared.tlsCa, 'utf8'),
    prefix: shared.prefix,
    connectTimeoutMs: shared.connectTimeoutMs,
    commandTimeoutMs: shared.commandTimeoutMs,
    reconnectMaxMs: shared.reconnectMaxMs,
    pendingMaxBytes: cache.redisPendingMaxBytes,
    onState: (error) => {
      if (error === null) log.info('Shared cache connected');
      else log.warn({ problem: describeRedisError(error) }, 'Shared cache unavailable');
    },
  });
}

const countersOf = (counts: ResponseCounts): Counters =>
  Object.fromEntries(Object.keys(counts).map((name) => [name, () => counts[name as keyof ResponseCounts]]));

/** Limits of each part. */
const limitsOf = ({ cache, sessions }: Configuration) => ({
  keys: {
    paramsMaxBytes: cache.paramsMaxBytes,
    keysMax: cache.keysMax,
    keysMaxBytes: cache.keysMaxBytes,
  } satisfies CallKeyLimits,
  memory: {
    entriesMax: cache.entriesMax,
    maxBytes: cache.maxBytes,
    answerMaxBytes: cache.answerMaxBytes,
  } satisfies MemoryCacheLimits,
  redis: {
    waitMs: cache.redisWaitMs,
    backoffMs: cache.redisBackoffMs,
    answerMaxBytes: cache.redisAnswerMaxBytes,
  } satisfies RedisCacheLimits,
  coalescing: {
    callsMax: cache.callsMax,
    waitingMax: cache.coalesce ? cache.waitingMax : 0,
    joinMaxMs: cache.joinMaxMs,
  } satisfies CoalescerLimits,
  monotonicReads: { ...monotonicReadsLimits, waitMs: sessions.waitMs } satisfies MonotonicReadsLimits,
});

/** In front of the embedded ledger alone, what moves is not kept. */
const ttlsOf = ({ cache }: Configuration, isLocalnetOnly: boolean): CacheTtls => ({
  slotMs: isLocalnetOnly ? 0 : cache.slotMs,
  shortMs: isLocalnetOnly ? 0 : cache.epochMs,
  finalMs: cache.finalMs,
});

/**
 * Puts in front of a source what spares it calls, from the outside in: what is known of slots, what is kept in memory,
 * calls that are on their way, what several gateways keep together.
 */
export function openUpstreamMiddleware({
  configuration,
  source,
  slots,
  isLocalnetOnly,
  log,
}: UpstreamMiddlewareOptions): UpstreamMiddleware {
  const { cache } = configuration;
  const limits = limitsOf(configuration);
  const ttls = ttlsOf(configuration, isLocalnetOnly);
  const counts = new ResponseCounts();
  const keys = new CallKeys(limits.keys);
  const memory = new MemoryCache({ slots, limits: limits.memory, ttls });
  const { roots } = memory;
  const store = openRedis(configuration, log);
  const redisBacked =
    store === null
      ? source
      : new RedisCache({ source, store, keys, counts, roots, ttls, limits: limits.redis });
  const listener = cache.enabled ? memory : null;
  const shared = new RequestCoalescer({
    source: redisBacked,
    keys,
    counts,
    listener,
    limits: limits.coalescing,
  });
  const coalesced = cache.coalesce ? shared : redisBacked;
  const cached = cache.enabled ? new ResponseCache({ coalescer: shared, memory, keys, counts }) : coalesced;
  const freshMs = cache.slotCacheFreshMs;
  const slotCache =
    cache.slotCache && !isLocalnetOnly
      ? new SlotCache({ source: cached, slots, keys, counts, freshMs })
      : cached;
  const monotonicReads = new MonotonicReads({
    source: slotCache,
    slots,
    keys,
    counts,
    limits: limits.monotonicReads,
  });
  return {
    source: new SessionSlotTracker(monotonicReads),
    outcomes: countersOf(counts),
    usage: {
      entries: () => memory.entries,
      bytes: () => memory.bytes,
      calls: () => shared.calls,
      waiting: () => shared.waiting,
    },
    evictions: () => memory.evictions,
    stop: () => store?.stop(),
  };
}

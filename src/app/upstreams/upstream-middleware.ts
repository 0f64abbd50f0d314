import { readFileSync } from 'node:fs';
import type { Logger } from '../../base/log.ts';
import type { Configuration } from '../../config/configuration.ts';
import { pick } from '../../config/option.ts';
import { describeRedisError, RedisCacheClient } from '../../control/shared/redis-client.ts';
import type { Call, Network, RpcDispatcher } from '../../protocol/call.ts';
import { methods } from '../../protocol/methods.ts';
import { compose, type Middleware } from '../../protocol/rpc-dispatcher.ts';
import type { CacheTtls } from '../../upstream/middleware/cache-policy.ts';
import { type CallKeyLimits, CallKeys } from '../../upstream/middleware/call-key.ts';
import { DiskStore, diskStoreLimits } from '../../upstream/middleware/disk-store.ts';
import {
  MonotonicReads,
  type MonotonicReadsLimits,
  monotonicReadsLimits,
} from '../../upstream/middleware/monotonic-reads.ts';
import { type CoalescerLimits, RequestCoalescer } from '../../upstream/middleware/request-coalescer.ts';
import {
  MemoryCache,
  type MemoryCacheLimits,
  ResponseCache,
} from '../../upstream/middleware/response-cache.ts';
import { ResponseCounts } from '../../upstream/middleware/response-counts.ts';
import { SlotCache } from '../../upstream/middleware/slot-cache.ts';
import { StoreCache, type StoreCacheLimits } from '../../upstream/middleware/store-cache.ts';
import { UpstreamNode } from '../../upstream/node.ts';
import { QuorumReads } from '../../upstream/quorum/quorum-reads.ts';
import type { SlotTracker } from '../../upstream/slots/slot-tracker.ts';
import { SubmitTargets } from '../../upstream/submit/submit-targets.ts';
import { TransactionSubmitter } from '../../upstream/submit/transaction-submitter.ts';
import type { UpstreamPool } from '../../upstream/upstream-pool.ts';
import { logStateChange } from '../log-state-change.ts';
import { finalizedCacheFile } from '../process/data-dir.ts';

function sendOnlyNodes({ senders, upstreamPool }: Configuration): ReadonlyMap<Network, UpstreamNode[]> {
  // Passes the live section of the configuration: nodes read limits at each use, so a reload takes effect.
  const nodes = senders.map((sender) => new UpstreamNode(sender, sender.network, upstreamPool));
  return Map.groupBy(nodes, ({ network }) => network);
}

export const openTransactionSubmitter = (
  configuration: Configuration,
  pool: UpstreamPool,
  log: Logger,
): TransactionSubmitter =>
  new TransactionSubmitter(pool, {
    targets: new SubmitTargets(pool, sendOnlyNodes(configuration)),
    limits: configuration.transactions,
    log,
  });

type Counters = Readonly<Record<string, () => number>>;

/** Excludes pages of signatures: if a node has gaps in its history, pages that lack signatures would stay forever. */
const isForDisk = ({ row }: Call): boolean => row === methods.getTransaction;

const SIGNATURE = /^\["([1-9A-HJ-NP-Za-km-z]{64,88})"/;

/** In text encodings, `signatures` starts with the requested signature. Source: Agave, `UiTransaction`. */
function hasRequestedSignature({ params }: Call, body: Buffer): boolean {
  const signature = SIGNATURE.exec(params?.toString('latin1') ?? '')?.[1];
  return signature !== undefined && body.includes(`"signatures":["${signature}"`);
}

type UpstreamMiddlewareOptions = Readonly<{
  configuration: Configuration;
  /** The innermost middleware: submits transactions and forwards other calls to the pool. */
  submitter: TransactionSubmitter;
  pool: UpstreamPool;
  /** Whether the embedded ledger is the only node. If so, state that may change is not cached. */
  isLocalnetOnly: boolean;
  log: Logger;
}>;

function openRedis({ cache, shared }: Configuration, log: Logger): RedisCacheClient | null {
  if (!cache.enabled || cache.redisUrl === null) return null;
  return new RedisCacheClient({
    ...shared,
    url: cache.redisUrl,
    ca: shared.tlsCa === null ? null : readFileSync(shared.tlsCa, 'utf8'),
    pendingMaxBytes: cache.redisPendingMaxBytes,
    onState: logStateChange(log, 'Shared cache unavailable', 'Shared cache connected', describeRedisError),
  });
}

/** Opens no disk cache if the embedded ledger is the only node: its transactions are on this disk already. */
function openDiskStore(
  { cache, dataDir }: Configuration,
  isLocalnetOnly: boolean,
  log: Logger,
): DiskStore | null {
  if (!cache.enabled || cache.diskMaxBytes === 0 || isLocalnetOnly) return null;
  const path = finalizedCacheFile(dataDir);
  return new DiskStore(path, cache.diskMaxBytes, (error) =>
    log.warn({ err: error, path }, 'Transactions are not cached on disk: the file cannot be opened'),
  );
}

const countersOf = (counts: ResponseCounts): Counters =>
  Object.fromEntries(Object.keys(counts).map((name) => [name, () => counts[name as keyof ResponseCounts]]));

/** Much longer than a read takes: a delay in a busy process must not be mistaken for a slow disk. */
const DISK_WAIT_MS = 1_000;

const limitsOf = ({ cache, sessions }: Configuration) => ({
  keys: pick(cache, ['paramsMaxBytes', 'keysMax', 'keysMaxBytes']) satisfies CallKeyLimits,
  memory: pick(cache, ['entriesMax', 'maxBytes', 'answerMaxBytes']) satisfies MemoryCacheLimits,
  redis: {
    waitMs: cache.redisWaitMs,
    backoffMs: cache.redisBackoffMs,
    answerMaxBytes: cache.redisAnswerMaxBytes,
  } satisfies StoreCacheLimits,
  disk: {
    waitMs: DISK_WAIT_MS,
    answerMaxBytes: diskStoreLimits.responseMaxBytes,
  } satisfies Partial<StoreCacheLimits>,
  coalescing: {
    callsMax: cache.callsMax,
    waitingMax: cache.coalesce ? cache.waitingMax : 0,
    joinMaxMs: cache.joinMaxMs,
  } satisfies CoalescerLimits,
  monotonicReads: { ...monotonicReadsLimits, waitMs: sessions.waitMs } satisfies MonotonicReadsLimits,
});

const ttlsOf = ({ cache }: Configuration, isLocalnetOnly: boolean): CacheTtls => ({
  slotMs: isLocalnetOnly ? 0 : cache.slotMs,
  shortMs: isLocalnetOnly ? 0 : cache.epochMs,
  finalMs: cache.finalMs,
});

/**
 * Builds the middleware in front of the pool. The arguments of `compose` are in call order, outermost first. The
 * coalescer dispatches calls with `usesDisk` to the disk cache.
 */
export function openUpstreamMiddleware({
  configuration,
  submitter,
  pool,
  isLocalnetOnly,
  log,
}: UpstreamMiddlewareOptions) {
  const { cache, quorum, upstreamPool } = configuration;
  const slots: SlotTracker = pool;
  const limits = limitsOf(configuration);
  const ttls = ttlsOf(configuration, isLocalnetOnly);
  const counts = new ResponseCounts();
  const keys = new CallKeys(limits.keys);
  const memory = new MemoryCache({ keys, slots, limits: limits.memory, ttls });
  const { roots } = memory;
  const store = openRedis(configuration, log);
  const disk = openDiskStore(configuration, isLocalnetOnly, log);
  const shared = { keys, counts, roots, ttls };
  let coalescer: RequestCoalescer | null = null;
  const coalesce: Middleware = (next) => {
    const listener = cache.enabled ? memory : null;
    const diskCache =
      disk &&
      new StoreCache(next, {
        ...shared,
        store: disk,
        limits: limits.disk,
        isStorable: isForDisk,
        isResponseTo: hasRequestedSignature,
      });
    coalescer = new RequestCoalescer(next, { keys, counts, listener, diskCache, limits: limits.coalescing });
    return coalescer;
  };
  const hasSlotCache = cache.slotCache && !isLocalnetOnly;
  const source: RpcDispatcher = compose(
    (next) => new MonotonicReads(next, { slots, keys, counts, limits: limits.monotonicReads }),
    hasSlotCache
      ? (next) => new SlotCache(next, { slots, keys, counts, freshMs: cache.slotCacheFreshMs })
      : null,
    cache.enabled ? (next) => new ResponseCache(next, { memory, keys, counts }) : null,
    cache.enabled || cache.coalesce ? coalesce : null,
    store && ((next) => new StoreCache(next, { ...shared, store, limits: limits.redis })),
    // The embedded ledger is the only node.
    quorum.methods.length > 0 && !isLocalnetOnly
      ? (next) => new QuorumReads(next, { ...quorum, pool, limits: upstreamPool })
      : null,
  )(submitter);
  return {
    source,
    outcomes: countersOf(counts),
    usage: {
      entries: () => memory.entries,
      bytes: () => memory.bytes,
      calls: () => coalescer?.calls ?? 0,
      waiting: () => coalescer?.waiting ?? 0,
    },
    evictions: () => memory.evictions,
    async stop() {
      store?.stop();
      await disk?.close();
    },
  };
}

export type UpstreamMiddleware = ReturnType<typeof openUpstreamMiddleware>;

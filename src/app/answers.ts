import { readFileSync } from 'node:fs';
import type { Logger } from '../base/log.ts';
import { RedisAnswers } from '../control/shared/redis-answers.ts';
import { sharingProblem } from '../control/shared/redis-problem.ts';
import type { DirectSource } from '../protocol/call.ts';
import { AnswerCounts } from '../upstream/cache/answer-counts.ts';
import { AnswerMemory } from '../upstream/cache/answer-memory.ts';
import { CallKeys } from '../upstream/cache/call-key.ts';
import { KeptAnswers } from '../upstream/cache/kept-answers.ts';
import { StoredAnswers } from '../upstream/cache/stored-answers.ts';
import { SharedCalls } from '../upstream/coalesce/shared-calls.ts';
import { FlooredCalls } from '../upstream/heads/floored-calls.ts';
import { KnownHeads } from '../upstream/heads/known-heads.ts';
import { MetFloors } from '../upstream/heads/met-floors.ts';
import type { KnownSlots } from '../upstream/known-slots.ts';
import type { Configuration } from './configuration.ts';

/** Bytes of answers on their way to Redis; one that does not keep up gets no more. */
const PENDING_MAX_BYTES = 32 * 1024 * 1024;

/** What is to be read of answers for which no node was asked, by name. */
type Readings = Readonly<Record<string, () => number>>;

/** What stands in front of the nodes and spares them calls. */
export type Answers = Readonly<{
  source: DirectSource;
  /** How calls were answered that may be spared. */
  answered: Readings;
  /** What is held now. */
  held: Readings;
  /** Answers that were forgotten to make room. */
  evictions: () => number;
  stop(): void;
}>;

export type AnswersParts = Readonly<{
  configuration: Configuration;
  /** What is asked when nothing else answers. */
  source: DirectSource;
  slots: KnownSlots;
  /** The nodes are the embedded ledger alone: it is as near as memory, and its state is asked of itself. */
  isLedgerAlone: boolean;
  log: Logger;
}>;

function openRedis({ cache, shared }: Configuration, log: Logger): RedisAnswers | null {
  if (!cache.enabled || cache.redisUrl === null) return null;
  return new RedisAnswers({
    url: cache.redisUrl,
    ca: shared.tlsCa === null ? null : readFileSync(shared.tlsCa, 'utf8'),
    prefix: shared.prefix,
    connectTimeoutMs: shared.connectTimeoutMs,
    commandTimeoutMs: shared.commandTimeoutMs,
    reconnectMaxMs: shared.reconnectMaxMs,
    pendingMaxBytes: PENDING_MAX_BYTES,
    onState: (error) => {
      if (error === null) log.info('answers are kept together with the other gateways');
      else log.warn({ problem: sharingProblem(error) }, 'answers that are kept together are away');
    },
  });
}

const readingsOf = (counts: AnswerCounts): Readings =>
  Object.fromEntries(Object.keys(counts).map((name) => [name, () => counts[name as keyof AnswerCounts]]));

/**
 * Puts in front of a source what spares it calls, from the outside in: what is known of slots, what is kept in memory,
 * calls that are on their way, what several gateways keep together.
 */
export function openAnswers({ configuration, source, slots, isLedgerAlone, log }: AnswersParts): Answers {
  const { cache, sessions } = configuration;
  const counts = new AnswerCounts();
  const keys = new CallKeys(cache);
  const moving = isLedgerAlone
    ? { slotMs: 0, shortlyMs: 0 }
    : { slotMs: cache.slotMs, shortlyMs: cache.epochMs };
  const times = { ...moving, finalMs: cache.finalMs };
  const memory = new AnswerMemory({ slots, limits: { ...cache }, times });
  const store = openRedis(configuration, log);
  const limits = { waitMs: cache.redisWaitMs, restMs: cache.redisRestMs };
  const answerMaxBytes = cache.redisAnswerMaxBytes;
  const below =
    store === null
      ? source
      : new StoredAnswers({
          ...{ source, store, keys, counts, roots: memory.roots, times },
          limits: { ...limits, answerMaxBytes },
        });
  const hearer = cache.enabled ? memory : null;
  const waitingMax = cache.coalesce ? cache.waitingMax : 0;
  const shared = new SharedCalls({ source: below, keys, counts, hearer, limits: { ...cache, waitingMax } });
  const joined = cache.coalesce ? shared : below;
  const kept = cache.enabled ? new KeptAnswers({ shared, memory, keys, counts }) : joined;
  const freshMs = cache.headsFreshMs;
  const heads =
    cache.heads && !isLedgerAlone ? new KnownHeads({ source: kept, slots, keys, counts, freshMs }) : kept;
  const floored = new FlooredCalls({ source: heads, keys, counts, limits: { waitMs: sessions.waitMs } });
  return {
    source: new MetFloors(floored),
    answered: readingsOf(counts),
    held: {
      entries: () => memory.entries,
      bytes: () => memory.bytes,
      calls: () => shared.calls,
      waiting: () => shared.waiting,
    },
    evictions: () => memory.evictions,
    stop: () => store?.stop(),
  };
}

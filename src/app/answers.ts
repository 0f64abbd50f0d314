import { readFileSync } from 'node:fs';
import type { Logger } from '../base/log.ts';
import { RedisAnswers } from '../control/shared/redis-answers.ts';
import { sharingProblem } from '../control/shared/redis-problem.ts';
import type { DirectSource } from '../protocol/call.ts';
import { AnswerCounts } from '../upstream/cache/answer-counts.ts';
import { AnswerMemory, type MemoryLimits } from '../upstream/cache/answer-memory.ts';
import { type CallKeyLimits, CallKeys } from '../upstream/cache/call-key.ts';
import type { KeepTimes } from '../upstream/cache/keep-time.ts';
import { KeptAnswers } from '../upstream/cache/kept-answers.ts';
import { StoredAnswers, type StoredAnswersLimits } from '../upstream/cache/stored-answers.ts';
import { SharedCalls, type SharedCallsLimits } from '../upstream/coalesce/shared-calls.ts';
import {
  FlooredCalls,
  type FlooredCallsLimits,
  flooredCallsLimits,
} from '../upstream/heads/floored-calls.ts';
import { KnownHeads } from '../upstream/heads/known-heads.ts';
import { MetFloors } from '../upstream/heads/met-floors.ts';
import type { KnownSlots } from '../upstream/known-slots.ts';
import type { Configuration } from './configuration.ts';

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
    pendingMaxBytes: cache.redisPendingMaxBytes,
    onState: (error) => {
      if (error === null) log.info('answers are kept together with the other gateways');
      else log.warn({ problem: sharingProblem(error) }, 'answers that are kept together are away');
    },
  });
}

const readingsOf = (counts: AnswerCounts): Readings =>
  Object.fromEntries(Object.keys(counts).map((name) => [name, () => counts[name as keyof AnswerCounts]]));

/** What bounds each part: whole, so that a limit which the configuration lacks does not compile. */
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
  } satisfies MemoryLimits,
  stored: {
    waitMs: cache.redisWaitMs,
    restMs: cache.redisRestMs,
    answerMaxBytes: cache.redisAnswerMaxBytes,
  } satisfies StoredAnswersLimits,
  shared: {
    callsMax: cache.callsMax,
    waitingMax: cache.coalesce ? cache.waitingMax : 0,
    joinMaxMs: cache.joinMaxMs,
  } satisfies SharedCallsLimits,
  floored: { ...flooredCallsLimits, waitMs: sessions.waitMs } satisfies FlooredCallsLimits,
});

/** In front of the embedded ledger alone, what moves is not kept. */
const timesOf = ({ cache }: Configuration, isLedgerAlone: boolean): KeepTimes => ({
  slotMs: isLedgerAlone ? 0 : cache.slotMs,
  shortlyMs: isLedgerAlone ? 0 : cache.epochMs,
  finalMs: cache.finalMs,
});

/**
 * Puts in front of a source what spares it calls, from the outside in: what is known of slots, what is kept in memory,
 * calls that are on their way, what several gateways keep together.
 */
export function openAnswers({ configuration, source, slots, isLedgerAlone, log }: AnswersParts): Answers {
  const { cache } = configuration;
  const limits = limitsOf(configuration);
  const times = timesOf(configuration, isLedgerAlone);
  const counts = new AnswerCounts();
  const keys = new CallKeys(limits.keys);
  const memory = new AnswerMemory({ slots, limits: limits.memory, times });
  const { roots } = memory;
  const store = openRedis(configuration, log);
  const below =
    store === null
      ? source
      : new StoredAnswers({ source, store, keys, counts, roots, times, limits: limits.stored });
  const hearer = cache.enabled ? memory : null;
  const shared = new SharedCalls({ source: below, keys, counts, hearer, limits: limits.shared });
  const joined = cache.coalesce ? shared : below;
  const kept = cache.enabled ? new KeptAnswers({ shared, memory, keys, counts }) : joined;
  const freshMs = cache.headsFreshMs;
  const heads =
    cache.heads && !isLedgerAlone ? new KnownHeads({ source: kept, slots, keys, counts, freshMs }) : kept;
  const floored = new FlooredCalls({ source: heads, slots, keys, counts, limits: limits.floored });
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

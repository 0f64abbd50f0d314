import { sessionMinSlotsOptions as sessions } from '../../gateway/session-min-slots.ts';
import { defaultCacheTtls as times } from '../../upstream/middleware/cache-policy.ts';
import { callKeyLimits as keys } from '../../upstream/middleware/call-key.ts';
import { monotonicReadsLimits as floored } from '../../upstream/middleware/monotonic-reads.ts';
import { redisCacheLimits as stored } from '../../upstream/middleware/redis-cache.ts';
import { coalescerLimits as sharing } from '../../upstream/middleware/request-coalescer.ts';
import { memoryCacheLimits as memory } from '../../upstream/middleware/response-cache.ts';
import { SLOT_CACHE_FRESH_MS } from '../../upstream/middleware/slot-cache.ts';
import { HOUR_MS, MIB, onOff, section, whole } from '../field-types.ts';
import { redisUrl } from './limits.ts';

/** The sections of answers for which no node is asked, and of sessions. */

/** `[cache]`: which answers are shared, kept, and given by what is known. */
export const cacheSection = section({
  enabled: onOff.default(true),
  coalesce: onOff.default(true),
  heads: onOff.default(true),
  slot_ms: whole(0, 60_000).default(times.slotMs),
  epoch_ms: whole(0, HOUR_MS).default(times.shortMs),
  final_ms: whole(0, 24 * HOUR_MS).default(times.finalMs),
  heads_fresh_ms: whole(1, 60_000).default(SLOT_CACHE_FRESH_MS),
  max_bytes: whole(MIB, 64 * 1_024 * MIB).default(memory.maxBytes),
  entries_max: whole(1, 10_000_000).default(memory.entriesMax),
  answer_max_bytes: whole(0, 128 * MIB).default(memory.answerMaxBytes),
  params_max_bytes: whole(64, MIB).default(keys.paramsMaxBytes),
  keys_max: whole(1, 10_000_000).default(keys.keysMax),
  keys_max_bytes: whole(MIB, 64 * 1_024 * MIB).default(keys.keysMaxBytes),
  calls_max: whole(0, 1_000_000).default(sharing.callsMax),
  waiting_max: whole(0, 10_000_000).default(sharing.waitingMax),
  join_max_ms: whole(0, HOUR_MS).default(sharing.joinMaxMs),
  redis_url: redisUrl.nullable().default(null),
  redis_wait_ms: whole(1, 1_000).default(stored.waitMs),
  redis_rest_ms: whole(1, HOUR_MS).default(stored.backoffMs),
  redis_pending_max_bytes: whole(MIB, 64 * 1_024 * MIB).default(32 * MIB),
  redis_answer_max_bytes: whole(0, 128 * MIB).default(stored.answerMaxBytes),
});

/** `[sessions]`: clients that must not see the chain go back. */
export const sessionsSection = section({
  sessions_max: whole(1, 10_000_000).default(sessions.sessionsMax),
  key_sessions_max: whole(1, 1_000_000).default(sessions.keySessionsMax),
  idle_ms: whole(1_000, 24 * HOUR_MS).default(sessions.idleMs),
  wait_ms: whole(0, 60_000).default(floored.waitMs),
});

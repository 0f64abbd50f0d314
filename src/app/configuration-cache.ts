import { slotSessionsOptions as sessions } from '../gateway/slot-sessions.ts';
import { memoryLimits as memory } from '../upstream/cache/answer-memory.ts';
import { callKeyLimits as keys } from '../upstream/cache/call-key.ts';
import { keepTimes as times } from '../upstream/cache/keep-time.ts';
import { storedAnswersLimits as stored } from '../upstream/cache/stored-answers.ts';
import { sharedCallsLimits as sharing } from '../upstream/coalesce/shared-calls.ts';
import { flooredCallsLimits as floored } from '../upstream/heads/floored-calls.ts';
import { KNOWN_HEADS_FRESH_MS } from '../upstream/heads/known-heads.ts';
import { HOUR_MS, MIB, onOff, section, whole } from './configuration-fields.ts';
import { redisUrl } from './configuration-limits.ts';

/** The sections of answers for which no node is asked, and of sessions. */

/** `[cache]`: which answers are shared, kept, and given by what is known. */
export const cacheSection = section({
  enabled: onOff.default(true),
  coalesce: onOff.default(true),
  heads: onOff.default(true),
  slot_ms: whole(0, 60_000).default(times.slotMs),
  epoch_ms: whole(0, HOUR_MS).default(times.shortlyMs),
  final_ms: whole(0, 24 * HOUR_MS).default(times.finalMs),
  heads_fresh_ms: whole(1, 60_000).default(KNOWN_HEADS_FRESH_MS),
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
  redis_rest_ms: whole(1, HOUR_MS).default(stored.restMs),
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

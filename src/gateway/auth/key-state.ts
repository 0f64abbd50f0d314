import type { LedgerAccount } from '../limits/quota.ts';
import type { RateBucket } from '../limits/rate-limiter.ts';
import type { UseEntry } from '../metering/last-used.ts';
import type { UsageCounter } from '../metering/usage-meter.ts';
import type { KeyCounter } from '../telemetry/request-counters.ts';
import type { KeyRecord } from './key-record.ts';
import type { CompiledRules } from './key-rules.ts';

/**
 * Runtime state of a key that is in use. Each field caches what its owner found for the key last, which saves a map
 * lookup per request. The owner checks that a cached entry is still its own and still valid.
 */
export type KeyState = {
  compiledRules: CompiledRules | null;
  rateBucket: RateBucket | null;
  usageCounter: UsageCounter | null;
  quotaAccount: LedgerAccount | null;
  lastUse: UseEntry | null;
  requestCounts: KeyCounter | null;
};

export const createKeyState = (): KeyState => ({
  compiledRules: null,
  rateBucket: null,
  usageCounter: null,
  quotaAccount: null,
  lastUse: null,
  requestCounts: null,
});

/** A key in the directory, which gets a state with its first use. */
export type LoadedKey = KeyRecord & Readonly<{ keyState?: KeyState }>;

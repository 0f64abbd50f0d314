import type { LedgerAccount } from '../limits/quota.ts';
import type { RateBucket } from '../limits/rate-limiter.ts';
import type { UseEntry } from '../metering/last-used.ts';
import type { UsageCounter } from '../metering/usage-meter.ts';
import type { KeyCounter } from '../telemetry/request-counters.ts';
import type { KeyRecord } from './key-record.ts';
import type { CompiledRules } from './key-rules.ts';

/**
 * Runtime state of a key in use. Each field belongs to one component and caches its last lookup, which saves a map
 * lookup per request. The component checks that the cached entry is its own and still valid.
 */
export class KeyState {
  compiledRules: CompiledRules | null = null;
  rateBucket: RateBucket | null = null;
  usageCounter: UsageCounter | null = null;
  quotaAccount: LedgerAccount | null = null;
  lastUse: UseEntry | null = null;
  requestCounts: KeyCounter | null = null;
}

/** A key held by the authenticator. Its `keyState` is created on first use. */
export type LoadedKey = KeyRecord &
  Readonly<{
    keyState?: KeyState;
    /** Expiry of the playground token or JWT that was presented instead of the key, in Unix milliseconds. */
    tokenExpiresAt?: number;
  }>;

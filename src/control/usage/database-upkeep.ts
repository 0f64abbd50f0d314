import type { Store } from '../database/store.ts';
import { type CheckResult, runChecks } from './usage-checks.ts';
import { pruneUsage, type UsageRetention } from './usage-retention.ts';

/** Returns the upkeep of usage in the database: retention, then the consistency checks. See UsageRoller. */
export const databaseUpkeep =
  (store: Store, retention: UsageRetention, onViolation: (check: CheckResult) => void) =>
  async (nowMs: number, shouldContinue: () => Promise<boolean>): Promise<void> => {
    await pruneUsage(store, retention, nowMs);
    for (const check of await runChecks(store, nowMs, shouldContinue))
      if (check.violations > 0) onViolation(check);
  };

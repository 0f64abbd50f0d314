/**
 * What was found last for a key by those who judge and count it: its rules made ready, its bucket, its row of the minute,
 * its account, its last use, its totals. They look here first, and in their maps only when what lies here is not theirs or
 * holds no more: of many keys in use, each step through a map is memory that no cache of the processor has. Each place
 * belongs to one of them.
 */
export type KeyState = {
  /** Of its rules. */
  compiledRules: unknown;
  /** Of the rate limiter. */
  rateBucket: unknown;
  /** Of the meter of usage. */
  usageCounter: unknown;
  /** Of the ledger of quotas. */
  quotaAccount: unknown;
  /** Of the record of last uses. */
  lastUse: unknown;
  /** Of the totals of the doors. */
  requestCounts: unknown;
};

/** A seat where nothing was found yet. */
export const createKeyState = (): KeyState => ({
  compiledRules: null,
  rateBucket: null,
  usageCounter: null,
  quotaAccount: null,
  lastUse: null,
  requestCounts: null,
});

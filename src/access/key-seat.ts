/**
 * What was found last for a key by those who judge and count it: its rules made ready, its bucket, its row of the minute,
 * its account, its last use, its totals. They look here first, and in their maps only when what lies here is not theirs or
 * holds no more: of many keys in use, each step through a map is memory that no cache of the processor has. Each place
 * belongs to one of them.
 */
export type KeySeat = {
  /** Of its rules. */
  rules: unknown;
  /** Of the rate limiter. */
  bucket: unknown;
  /** Of the meter of usage. */
  count: unknown;
  /** Of the ledger of quotas. */
  account: unknown;
  /** Of the record of last uses. */
  use: unknown;
  /** Of the totals of the doors. */
  totals: unknown;
};

/** A seat where nothing was found yet. */
export const createSeat = (): KeySeat => ({
  rules: null,
  bucket: null,
  count: null,
  account: null,
  use: null,
  totals: null,
});

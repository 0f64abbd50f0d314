/** Slots of the longest epoch that a new ledger may have: getLeaderSchedule writes one number for each. */
export const SLOTS_PER_EPOCH_MAX = 8_192_000;

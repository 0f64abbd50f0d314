/** Bounds the size of getLeaderSchedule, which lists every slot. */
export const SLOTS_PER_EPOCH_MAX = 8_192_000;

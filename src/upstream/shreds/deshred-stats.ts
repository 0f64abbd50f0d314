import type { ShredFault } from '../../solana/shred/parse-shred.ts';

/** Why a packet came to nothing. */
export type DropReason =
  /** No shred: one reason each of the parser's. */
  | ShredFault
  /** Of another cluster. */
  | 'version'
  /** Too far above or below the newest plausible slot. */
  | 'slotAhead'
  | 'slotBehind'
  /** Of a slot that is complete or was given up. */
  | 'slotClosed'
  /** The same place was taken by a verified shred, or its set needs no more. */
  | 'duplicate'
  /** The slot's leader is not known, and there is no room to wait for it, or no wish. */
  | 'leaderUnknown'
  /** Not signed by the leader, or not under the root that was signed. */
  | 'forged'
  /** So many were forged of late that its signature was not looked at before others took its room. */
  | 'unjudged'
  /** Signed by the leader, but not what was signed first for the same set. */
  | 'equivocation'
  /** Signed by the leader, but at odds with the rest of its set or slot. */
  | 'inconsistent'
  /** More sets or shreds than a slot may have. */
  | 'slotFull';

/** Running totals. */
export type DeshredStats = {
  packets: number;
  /** Shreds that were verified and were new. */
  accepted: number;
  drops: Record<DropReason, number>;
  /** Packets that waited, and came out again, for the slot's leader to be known. */
  pending: number;
  /** Verifications of ed25519 signatures. */
  signatures: number;
  /** Sets that were completed from code shreds, and data shreds that came of it. */
  recoveredSets: number;
  recoveredShreds: number;
  /** Sets whose code leads to what the leader did not sign: its own fault. */
  unrecoverableSets: number;
  /** Sets that do not name the root of the set before. */
  brokenChains: number;
  batches: number;
  /** Batches that were block markers, or empty. */
  markers: number;
  /** Batches of which no entries could be read: the leader's own fault. */
  malformedBatches: number;
  slotsCompleted: number;
  /** Slots that were given up before they were complete. */
  slotsGivenUp: number;
};

const noDrops = (): DeshredStats['drops'] => ({
  Length: 0,
  Variant: 0,
  Index: 0,
  ParentOffset: 0,
  Flags: 0,
  Size: 0,
  FecSet: 0,
  version: 0,
  slotAhead: 0,
  slotBehind: 0,
  slotClosed: 0,
  duplicate: 0,
  leaderUnknown: 0,
  forged: 0,
  unjudged: 0,
  equivocation: 0,
  inconsistent: 0,
  slotFull: 0,
});

/** Totals that begin at zero. */
export const noStats = (): DeshredStats => ({
  packets: 0,
  accepted: 0,
  drops: noDrops(),
  pending: 0,
  signatures: 0,
  recoveredSets: 0,
  recoveredShreds: 0,
  unrecoverableSets: 0,
  brokenChains: 0,
  batches: 0,
  markers: 0,
  malformedBatches: 0,
  slotsCompleted: 0,
  slotsGivenUp: 0,
});

/** What a deshredder holds at most, whatever arrives. */
export type DeshredLimits = Readonly<{
  /** Slots of which shreds are held; beyond it the leader with most of them loses one. */
  slotsMax: number;
  /** Data shreds of one slot, and likewise code shreds. */
  shredsPerSlotMax: number;
  fecSetsPerSlotMax: number;
  /** Shreds that are held, in bytes; beyond it the slot that holds most is given up. */
  bytesMax: number;
  /**
   * How far above and below the newest plausible slot one may be; below no less than above, so that whoever is ahead
   * leaves nobody behind. Of all slots in between it is remembered whether they are done.
   */
  slotsAheadMax: number;
  slotsBehindMax: number;
  /** Without a verified shred of a plausible slot for so long, what is plausible is found out anew. Milliseconds. */
  staleMs: number;
  /** Packets of slots whose leader is not known yet, in bytes; beyond it the oldest goes. */
  heldBytesMax: number;
  /** Signatures that were found wrong and are remembered, so that the same packet costs less the next time. */
  rejectedMax: number;
  /**
   * Wrong signatures that are found out in a second, a tenth of a millisecond each; shreds that would need more of them
   * looked at wait.
   */
  forgedPerSecondMax: number;
  /** Packets that wait for their signature to be looked at, in bytes; beyond it those go that waited longest. */
  unjudgedBytesMax: number;
}>;

/** What holds unless configuration says otherwise. */
export const deshredLimits: DeshredLimits = {
  slotsMax: 64,
  shredsPerSlotMax: 32_768,
  fecSetsPerSlotMax: 2_048,
  bytesMax: 128 * 1024 * 1024,
  slotsAheadMax: 256,
  slotsBehindMax: 256,
  staleMs: 10_000,
  heldBytesMax: 8 * 1024 * 1024,
  rejectedMax: 4_096,
  forgedPerSecondMax: 2_000,
  unjudgedBytesMax: 16 * 1024 * 1024,
};

/**
 * Weakest first, like geyser.proto's `CommitmentLevel`. Processes also exchange minimum slots in this order.
 * Source: spec, "States and transitions".
 */
export const commitments = ['processed', 'confirmed', 'finalized'] as const;
export type Commitment = (typeof commitments)[number];

/** @param status - untrusted. @returns false if `status` is not a commitment. */
export const satisfiesCommitment = (status: unknown, required: Commitment): boolean =>
  commitments.indexOf(status as Commitment) >= commitments.indexOf(required);

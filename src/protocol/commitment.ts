/** How settled the state is that a reader asks for. Source: spec "States and transitions". */
export const commitments = ['processed', 'confirmed', 'finalized'] as const;
export type Commitment = (typeof commitments)[number];

/**
 * Whether what is settled so far is settled enough.
 * @param status - a commitment; of anything else nothing is known, and it never is.
 */
export const satisfiesCommitment = (status: unknown, required: Commitment): boolean =>
  commitments.indexOf(status as Commitment) >= commitments.indexOf(required);

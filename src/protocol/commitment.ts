/** How settled the state is that a reader asks for. Source: spec "States and transitions". */
export const commitments = ['processed', 'confirmed', 'finalized'] as const;
export type Commitment = (typeof commitments)[number];

/** Shown in status pages; `unknown` until the first response. */
export type NodeState =
  | 'unknown'
  | 'healthy'
  | 'behind'
  | 'ahead'
  | 'slow'
  | 'resting'
  | 'failing'
  | 'wrong-chain'
  | 'cordoned'
  | 'draining'
  | 'drained';

/**
 * - `behind`: other nodes are ahead.
 * - `not-replaying`: it received much newer shreds than it replayed.
 * - `stalled`: its slot does not advance while others do.
 * - `ahead`: it reports slots that the others cannot know yet.
 */
export type SlotFault = 'behind' | 'not-replaying' | 'stalled' | 'ahead';

export type EjectionReason = 'slow' | 'failing' | 'throttling';

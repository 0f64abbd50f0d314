/** Shown on status pages; `unknown` until the first response. */
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
 * - `behind`: the node's slot is too far behind those of the other nodes.
 * - `not-replaying`: the node has received much newer shreds than it has replayed.
 * - `stalled`: the node's slot does not advance while other nodes' slots do.
 * - `ahead`: the node reports slots far beyond those of the other nodes.
 */
export type SlotFault = 'behind' | 'not-replaying' | 'stalled' | 'ahead';

export type EjectionReason = 'slow' | 'failing' | 'throttling';

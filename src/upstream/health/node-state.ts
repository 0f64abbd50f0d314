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

export const stateOfFault: Readonly<Record<SlotFault, NodeState>> = {
  behind: 'behind',
  'not-replaying': 'behind',
  stalled: 'behind',
  ahead: 'ahead',
};

export const stateOfEjection: Readonly<Record<EjectionReason, NodeState>> = {
  slow: 'slow',
  failing: 'failing',
  throttling: 'resting',
};

export const textOfEjection: Readonly<Record<EjectionReason, string>> = {
  slow: 'much slower than other nodes; polls and mirrored calls test recovery',
  failing: 'failure ratio too high; polls and mirrored calls test recovery',
  throttling: 'throttling ratio too high; polls and mirrored calls test recovery',
};

export const reasonOfFailing = (failuresInRow: number): string =>
  failuresInRow > 0 ? `${failuresInRow} consecutive failures` : 'does not respond to polls';

export function reasonOfFault(fault: SlotFault, lagSlots: bigint | null, unreplayed: bigint | null): string {
  switch (fault) {
    case 'behind':
      return `${lagSlots} slots behind`;
    case 'not-replaying':
      return `${unreplayed} slots received but not replayed`;
    case 'stalled':
      return 'slot does not advance while other nodes do';
    case 'ahead':
      return 'reports slots that no other node has reached';
  }
}

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

type EjectionRow = Readonly<{ state: NodeState; cause: string }>;

export const ejectionRows: Readonly<Record<EjectionReason, EjectionRow>> = {
  slow: { state: 'slow', cause: 'much slower than other nodes' },
  failing: { state: 'failing', cause: 'failure ratio too high' },
  throttling: { state: 'resting', cause: 'throttling ratio too high' },
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

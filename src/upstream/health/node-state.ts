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
 * - `standing-still`: its slot does not advance while others do.
 * - `ahead`: it reports slots that the others cannot know yet.
 */
export type SlotFault = 'behind' | 'not-replaying' | 'standing-still' | 'ahead';

/** Reason of an ejection. */
export type EjectionReason = 'slow' | 'failing' | 'throttling';

export const stateOfFault: Readonly<Record<SlotFault, NodeState>> = {
  behind: 'behind',
  'not-replaying': 'behind',
  'standing-still': 'behind',
  ahead: 'ahead',
};

export const stateOfEjection: Readonly<Record<EjectionReason, NodeState>> = {
  slow: 'slow',
  failing: 'failing',
  throttling: 'resting',
};

export const textOfEjection: Readonly<Record<EjectionReason, string>> = {
  slow: 'much slower than the others; polls and copies of calls test whether it recovered',
  failing: 'too many of the last calls failed; polls and copies of calls test whether it recovered',
  throttling:
    'too many of the last calls were throttled; polls and copies of calls test whether it recovered',
};

export const reasonOfFailing = (failuresInRow: number): string =>
  failuresInRow > 0 ? `${failuresInRow} failures in a row` : 'does not answer polls';

/**
 * @param lagSlots - slots behind the other nodes.
 * @param unreplayed - slots received as shreds but not replayed.
 */
export function reasonOfFault(fault: SlotFault, lagSlots: bigint | null, unreplayed: bigint | null): string {
  switch (fault) {
    case 'behind':
      return `${lagSlots} slots behind`;
    case 'not-replaying':
      return `receives shreds, and has ${unreplayed} slots to replay`;
    case 'standing-still':
      return 'its slot stands still while others go on';
    case 'ahead':
      return 'tells of slots that no other node has come to';
  }
}

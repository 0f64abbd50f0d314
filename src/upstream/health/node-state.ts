/** What stands between a node and being asked first; `unknown` until it has answered once. */
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
 * What speaks against a node's slots:
 * - `behind`: the others are further.
 * - `not-replaying`: it has shreds of much newer slots than it has replayed.
 * - `standing-still`: its slot does not move while those of others do.
 * - `ahead`: it tells of slots that the others cannot know yet.
 */
export type SlotFault = 'behind' | 'not-replaying' | 'standing-still' | 'ahead';

/** Why a node is passed over for what became of the calls it was asked. */
export type EjectionReason = 'slow' | 'failing' | 'throttling';

/** The word that status pages have for each. */
export const stateOfFault: Readonly<Record<SlotFault, NodeState>> = {
  behind: 'behind',
  'not-replaying': 'behind',
  'standing-still': 'behind',
  ahead: 'ahead',
};

/** The word that status pages have for each. */
export const stateOfEjection: Readonly<Record<EjectionReason, NodeState>> = {
  slow: 'slow',
  failing: 'failing',
  throttling: 'resting',
};

/** What is said of each. */
export const textOfEjection: Readonly<Record<EjectionReason, string>> = {
  slow: 'much slower than the others; polls and copies of calls test whether it recovered',
  failing: 'too many of the last calls failed; polls and copies of calls test whether it recovered',
  throttling:
    'too many of the last calls were throttled; polls and copies of calls test whether it recovered',
};

export const reasonOfFailing = (failuresInRow: number): string =>
  failuresInRow > 0 ? `${failuresInRow} failures in a row` : 'does not answer polls';

/**
 * @param lagSlots - how far behind the others it is.
 * @param unreplayed - slots of which it has shreds that it has not replayed.
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

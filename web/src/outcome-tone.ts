/** Success rates below these are shown as a warning and as bad. */
const [WARN_BELOW, BAD_BELOW] = [0.99, 0.95];

export function successTone(share: number | null): 'warn' | 'bad' | undefined {
  if (share === null || share >= WARN_BELOW) return undefined;
  return share < BAD_BELOW ? 'bad' : 'warn';
}

export type Change = Readonly<{
  difference: number;
  good: 'up' | 'down' | null;
  /** False: a change for the better is not shown as good, because most outcomes are bad. */
  canBeGood?: boolean | undefined;
}>;

export function changeTone({ difference, good, canBeGood = true }: Change): 'good' | 'bad' | undefined {
  if (difference === 0 || good === null) return undefined;
  if (difference > 0 !== (good === 'up')) return 'bad';
  return canBeGood ? 'good' : undefined;
}

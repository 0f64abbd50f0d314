import { formatCount, formatMs, formatShare } from '../../format.ts';
import { Tile } from '../../ui/tile.tsx';
import { useNow } from '../../ui/time.tsx';
import { type Submission, transactionStatusOf } from './transaction-status.ts';

/** The middle of some numbers; null of none. */
const middleOf = (values: readonly number[]): number | null =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? null;

/** What became of the transactions that are shown, in numbers. */
export function LandedTiles({ items }: { items: readonly Submission[] }) {
  const now = useNow();
  const kinds = items.map((item) => transactionStatusOf(item, now).kind);
  const count = (kind: (typeof kinds)[number]): number => kinds.filter((one) => one === kind).length;
  const landed = count('landed');
  const decided = items.length - count('pending') - count('refused');
  const times = items.flatMap(({ attempts }) => attempts.map(({ ms }) => ms));
  return (
    <div className="tiles">
      <Tile label="Sent" value={formatCount(items.length)} note="of those shown below" />
      <Tile
        label="Landed"
        value={decided === 0 ? '–' : formatShare(landed / decided)}
        note={`${formatCount(landed)} of ${formatCount(decided)} that were accepted and had their time`}
      />
      <Tile
        label="Failed on chain"
        value={formatCount(count('failed'))}
        note="they landed and paid their fee"
      />
      <Tile label="Never landed" value={formatCount(count('lost'))} note="accepted by a node, then gone" />
      <Tile
        label="Refused"
        value={formatCount(count('refused'))}
        note="by the nodes, as with a failed preflight"
      />
      <Tile label="Time of an attempt" value={formatMs(middleOf(times))} note="half of them were faster" />
    </div>
  );
}

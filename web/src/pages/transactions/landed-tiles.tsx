import { formatCount, formatMs, formatShare } from '../../format.ts';
import { Tile } from '../../ui/tile.tsx';
import { useNow } from '../../ui/time.tsx';
import { type Submission, transactionStatusOf } from './transaction-status.ts';

const middleOf = (values: readonly number[]): number | null =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? null;

export function LandedTiles({ items }: { items: readonly Submission[] }) {
  const now = useNow();
  const kinds = items.map((item) => transactionStatusOf(item, now).kind);
  const count = (kind: (typeof kinds)[number]): number => kinds.filter((one) => one === kind).length;
  const landed = count('landed');
  const decided = items.length - count('pending') - count('rejected');
  const times = items.flatMap(({ attempts }) => attempts.map(({ ms }) => ms));
  return (
    <div className="tiles">
      <Tile label="Loaded" value={formatCount(items.length)} note="Shown below" />
      <Tile
        label="Landed"
        value={decided === 0 ? '–' : formatShare(landed / decided)}
        note={`${formatCount(landed)} of ${formatCount(decided)} accepted`}
      />
      <Tile
        label="Failed on chain"
        value={formatCount(count('failed'))}
        note="Landed with an error; fee charged"
      />
      <Tile
        label="Not landed"
        value={formatCount(count('lost'))}
        note="Accepted by a node but never landed"
      />
      <Tile
        label="Rejected"
        value={formatCount(count('rejected'))}
        note="By the nodes, for example after a failed preflight"
      />
      <Tile label="Submission latency (p50)" value={formatMs(middleOf(times))} note="Per attempt" />
    </div>
  );
}

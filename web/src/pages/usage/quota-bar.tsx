import { formatCount, formatShare } from '../../format.ts';

const MARKS = [0.8, 0.95] as const;
const WIDTH = 200;

const toneOf = (share: number): string => (share >= 1 ? 'bad' : share >= MARKS[0] ? 'warn' : 'good');

export function QuotaBar({ used, limit }: { used: number; limit: number }) {
  const share = limit === 0 ? 1 : used / limit;
  const summary = `${formatShare(Math.min(1, share))} of ${formatCount(limit)} credits used`;
  return (
    <svg
      className={`quota-bar quota-bar-${toneOf(share)}`}
      viewBox={`0 0 ${WIDTH} 8`}
      preserveAspectRatio="none"
      role="img"
      aria-label={summary}
    >
      <title>{summary}</title>
      <rect className="quota-bar-all" width={WIDTH} height="8" rx="1" />
      <rect className="quota-bar-used" width={Math.min(1, share) * WIDTH} height="8" rx="1" />
      {MARKS.map((mark) => (
        <rect key={mark} className="quota-bar-mark" x={mark * WIDTH - 0.5} width="1" height="8" />
      ))}
    </svg>
  );
}

import type { ReactNode } from 'react';
import { formatShort } from '../format.ts';
import { type Change, changeTone } from '../outcome-tone.ts';
import { Sparkline } from './sparkline.tsx';

export type Delta = Omit<Change, 'difference'> &
  Readonly<{
    now: number | null;
    before: number | null;
    formatDifference?: (difference: number) => string;
  }>;

export function Tile({
  label,
  value,
  tone,
  note,
  delta,
  values,
  children,
}: {
  label: string;
  value: ReactNode;
  tone?: 'warn' | 'bad' | undefined;
  note?: ReactNode;
  delta?: Delta;
  values?: readonly (number | null)[] | undefined;
  children?: ReactNode;
}) {
  return (
    <section className="tile" aria-label={label}>
      <p className="tile-label">{label}</p>
      <p className={tone === undefined ? 'tile-value' : `tile-value tile-${tone}`}>{value}</p>
      {values === undefined ? null : <Sparkline values={values} />}
      {children}
      <p className="tile-note">
        {delta === undefined ? null : <DeltaText delta={delta} />}
        {note}
      </p>
    </section>
  );
}

function DeltaText({ delta: { now, before, good, canBeGood, formatDifference } }: { delta: Delta }) {
  if (now === null || before === null) return null;
  const difference = now - before;
  if (formatDifference === undefined && before === 0)
    return now === 0 ? null : <span className="delta">No previous data</span>;
  const direction = difference > 0 ? 'up' : 'down';
  const tone = changeTone({ difference, good, canBeGood });
  const size = formatDifference?.(Math.abs(difference)) ?? percentOf(Math.abs(difference) / before);
  if (difference === 0 || /^0\.?0*(?![\d.])/.test(size)) return <span className="delta">Unchanged</span>;
  return (
    <span className={tone === undefined ? 'delta' : `delta delta-${tone}`}>
      <span aria-hidden="true">{direction === 'up' ? '↑' : '↓'}</span>
      <span className="visually-hidden">{direction}</span> {size}
      <span className="visually-hidden"> compared with the previous period</span>
    </span>
  );
}

const percentOf = (share: number): string =>
  share >= 10 ? `${formatShort(share)}×` : `${(share * 100).toFixed(share < 0.1 ? 1 : 0)}%`;

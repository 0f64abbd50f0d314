import { useEffect, useState } from 'react';

/** Looks that are remembered: two minutes. */
const LOOKS_MAX = 60;

/** What numbers were at the last looks, as long as this page is open, for lines behind them. */
export function useRecent<Totals extends Readonly<Record<string, number>>>(
  totals: Totals | undefined,
  lookedAt: number,
): (name: keyof Totals) => readonly number[] {
  const [looks, setLooks] = useState<readonly Totals[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once a look, also where nothing changed
  useEffect(() => {
    if (totals !== undefined) setLooks((before) => [...before.slice(1 - LOOKS_MAX), totals]);
  }, [lookedAt]);
  return (name) => looks.map((look) => look[name] ?? 0);
}

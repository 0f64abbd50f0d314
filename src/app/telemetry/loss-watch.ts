import type { Logger } from '../../base/log.ts';

/** Counts entries dropped since startup. */
type LossCounter = Readonly<{ message: string; read: () => number }>;

const INTERVAL_MS = 60_000;

/** Logs each counter that grew in the last minute. @returns stops after a last check. */
export function watchLosses(counters: readonly LossCounter[], log: Logger): () => void {
  const reported = counters.map(() => 0);
  const report = () => {
    counters.forEach(({ message, read }, index) => {
      const total = read();
      const lost = total - (reported[index] ?? 0);
      if (lost > 0) log.warn({ lost, total }, message);
      reported[index] = total;
    });
  };
  const timer = setInterval(report, INTERVAL_MS);
  return () => {
    clearInterval(timer);
    report();
  };
}

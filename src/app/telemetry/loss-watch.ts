import type { Logger } from '../../base/log.ts';

/** Counter of entries dropped since startup. `message` is logged when the counter grows. */
type LossCounter = Readonly<{ message: string; read: () => number }>;

const INTERVAL_MS = 60_000;

/** Logs each counter that grew in the last minute. @returns a function that checks once more and stops. */
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

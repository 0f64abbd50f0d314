import type { Gauge } from '../programs/process-stats.ts';
import type { FaultChecker } from './load/fault-checker.ts';
import type { Submissions } from './load/submissions.ts';

export const SUCCESS_MIN = 0.9999;
/** Memory of the second half in relation to the first, after warm-up. */
export const GROWTH_MAX = 1.2;
/** Memory is not judged before, nor in shorter runs. */
const WARM_UP_SECONDS = 120;
const JUDGED_SECONDS = 180;

type Parts = Readonly<{
  seed: number;
  minutes: number;
  checker: FaultChecker;
  /** Requests that were not sent: too many in flight. */
  skipped: number;
  sends: Submissions;
  gauge: Gauge;
}>;

const percent = (share: number): string => `${(share * 100).toFixed(4)} %`;

/** Null for a short run. */
function growthOf(gauge: Gauge): number | null {
  const judged = gauge.memoryMib.length - WARM_UP_SECONDS;
  return judged < JUDGED_SECONDS ? null : gauge.growth(WARM_UP_SECONDS);
}

function brokenOf({ checker, gauge }: Parts): string[] {
  const shares = [...checker.tallies].flatMap(([kind, tally]) =>
    tally.share >= SUCCESS_MIN ? [] : [`${percent(tally.share)} of answerable ${kind} requests succeeded`],
  );
  const growth = growthOf(gauge);
  const grown =
    growth === null || growth <= GROWTH_MAX ? [] : [`memory grew by a factor of ${growth.toFixed(2)}`];
  const beyond = checker.brokenCount - checker.broken.length;
  return [...shares, ...checker.broken, ...(beyond > 0 ? [`${beyond} more`] : []), ...grown];
}

export function resultOf(parts: Parts) {
  const { seed, minutes, checker, skipped, sends, gauge } = parts;
  const { outcomes, answers, rejected } = sends;
  return {
    ...{ seed, minutes },
    nodeFaults: checker.faultHistory
      .totals()
      .map((one) => ({ ...one, faults: checker.faultsDuring.get(one.fault) ?? 0 })),
    requests: Object.fromEntries([...checker.tallies].map(([kind, tally]) => [kind, tally.summary()])),
    skipped,
    transactions: { ...outcomes, answers, withoutBlockhash: rejected },
    memory: { mib: gauge.memoryMib.at(-1) ?? 0, growth: growthOf(gauge), cpuShare: gauge.cpuShare },
    waitedSeconds: Math.round(gauge.waitedMs / 1_000),
    broken: brokenOf(parts),
  };
}

export function summaryOf({ broken, nodeFaults, requests, ...others }: ReturnType<typeof resultOf>): string {
  const line = (name: string, value: unknown): string => `${name}: ${JSON.stringify(value)}`;
  return [
    ...nodeFaults.map(({ fault, ...figures }) => line(`  ${fault}`, figures)),
    ...Object.entries(requests).map(([kind, figures]) => line(`  ${kind}`, figures)),
    ...Object.entries(others).map(([name, value]) => line(name, value)),
    ...(broken.length === 0 ? ['All promises held.'] : broken.map((one) => `BROKEN ${one}`)),
  ].join('\n');
}

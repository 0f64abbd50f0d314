import { type Gauge, sparkline } from '../programs/process-stats.ts';
import type { FaultChecker } from './load/fault-checker.ts';
import type { Submissions } from './load/submissions.ts';

/** Share of answerable requests. */
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

/** Broken promises, as text. */
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

/** Result of a run. */
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

/** The result as text. */
export function summaryOf(result: ReturnType<typeof resultOf>, gauge: Gauge): string {
  const { landed, failed, expired, answers, withoutBlockhash } = result.transactions;
  const nodeFaults = result.nodeFaults.map(
    ({ fault, count, seconds, faults }) =>
      `  ${fault.padEnd(13)} ${String(count).padStart(5)} times ${String(seconds).padStart(6)} s   failed requests: ${faults}`,
  );
  const requests = Object.entries(result.requests).map(
    ([kind, one]) =>
      `  ${kind.padEnd(10)} ${one.good} of ${one.answerable} good (${one.failed} not); p50 ${one.p50} ms, p99 ${one.p99} ms, ` +
      `p99.9 ${one.p999} ms; without a healthy node ${one.othersGood} of ${one.others} good; ${one.brokenOff} streamed responses broke off`,
  );
  const growth =
    result.memory.growth === null
      ? 'not judged, the run was too short'
      : `${result.memory.growth.toFixed(3)} times`;
  return [
    `\nseed ${result.seed}, ${result.minutes} minutes`,
    'faults of nodes:',
    ...nodeFaults,
    'answerable requests:',
    ...requests,
    `skipped, too many in flight: ${result.skipped}`,
    `transactions: ${landed} landed, ${failed} failed on the ledger as expected, ${expired} expired; answers: ` +
      `${answers.taken} signatures, ${answers.refused} errors (${withoutBlockhash} without the blockhash), ` +
      `${answers.unknown} unknown, ${answers.silent} none`,
    `memory of the gateway ${sparkline(gauge.memoryMib)} ${result.memory.mib} MiB; second half in relation to the first: ${growth}`,
    `the gateway used ${result.memory.cpuShare.toFixed(2)} of a processor and waited ${result.waitedSeconds} s for one`,
    ...(result.broken.length === 0 ? ['All promises held.'] : result.broken.map((one) => `BROKEN ${one}`)),
  ].join('\n');
}

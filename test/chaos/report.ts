import { type Gauge, sparkline } from '../soak/geyser/gauge.ts';
import type { FaultChecker } from './load/fault-checker.ts';
import type { Reads } from './load/reads.ts';
import type { Submissions } from './load/submissions.ts';

/** Of the requests that a node could have answered. */
export const SUCCESS_MIN = 0.9999;
/** What the gateway's memory may be in the second half of the time against the first, after it has warmed up. */
export const GROWTH_MAX = 1.2;
/** Before, memory is what the first requests of each kind make it. Shorter runs say nothing of memory. */
const WARM_UP_SECONDS = 120;
const JUDGED_SECONDS = 180;

export type Parts = Readonly<{
  seed: number;
  minutes: number;
  checker: FaultChecker;
  reads: readonly Reads[];
  sends: Submissions;
  gauge: Gauge;
  /** How long the gateway was ready to run and others had the processors. */
  waitedMs: () => number;
}>;

const percent = (share: number): string => `${(share * 100).toFixed(4)} %`;

/** Null where the run was too short to tell. */
function growthOf(gauge: Gauge): number | null {
  const judged = gauge.memoryMib.length - WARM_UP_SECONDS;
  return judged < JUDGED_SECONDS ? null : gauge.growth(WARM_UP_SECONDS);
}

/** Every promise that was broken, in words. */
function brokenOf({ checker, gauge }: Parts): string[] {
  const shares = [...checker.tallies].flatMap(([kind, tally]) =>
    tally.share >= SUCCESS_MIN
      ? []
      : [`${percent(tally.share)} of ${kind} requests succeeded that a node could have answered`],
  );
  const growth = growthOf(gauge);
  const grown =
    growth === null || growth <= GROWTH_MAX ? [] : [`memory grew by a factor of ${growth.toFixed(2)}`];
  const beyond = checker.brokenCount - checker.broken.length;
  return [...shares, ...checker.broken, ...(beyond > 0 ? [`${beyond} more`] : []), ...grown];
}

/** What came of a run. `broken`: the promises that were not kept. */
export function resultOf(parts: Parts) {
  const { seed, minutes, checker, reads, sends, gauge } = parts;
  const { outcomes, answers, rejected } = sends;
  return {
    ...{ seed, minutes },
    illnesses: checker.faultHistory
      .totals()
      .map((one) => ({ ...one, faults: checker.faultsDuring.get(one.fault) ?? 0 })),
    requests: Object.fromEntries([...checker.tallies].map(([kind, tally]) => [kind, tally.summary()])),
    leftOut: reads.reduce((sum, one) => sum + one.skipped, 0) + sends.skipped,
    transactions: { ...outcomes, answers, turnedAway: rejected },
    memory: { mib: gauge.memoryMib.at(-1) ?? 0, growth: growthOf(gauge), cpuShare: gauge.cpuShare },
    waitedSeconds: Math.round(parts.waitedMs() / 1_000),
    broken: brokenOf(parts),
  };
}

/** The result for people. */
export function summaryOf(parts: Parts): string {
  const result = resultOf(parts);
  const { landed, failed, expired, answers, turnedAway } = result.transactions;
  const illnesses = result.illnesses.map(
    ({ fault, count, seconds, faults }) =>
      `  ${fault.padEnd(13)} ${String(count).padStart(5)} times ${String(seconds).padStart(6)} s   faults meanwhile: ${faults}`,
  );
  const requests = Object.entries(result.requests).map(
    ([kind, one]) =>
      `  ${kind.padEnd(10)} ${one.good} of ${one.answerable} good (${one.failed} not); p50 ${one.p50} ms, p99 ${one.p99} ms, ` +
      `p99.9 ${one.p999} ms; with no node well ${one.othersGood} of ${one.others} good; ${one.brokenOff} long ones broke off`,
  );
  const growth =
    result.memory.growth === null ? 'too short to tell' : `${result.memory.growth.toFixed(3)} times`;
  return [
    `\nseed ${result.seed}, ${result.minutes} minutes`,
    'illnesses of nodes:',
    ...illnesses,
    'requests that a node could have answered:',
    ...requests,
    `left out because too many were under way: ${result.leftOut}`,
    `transactions: ${landed} landed, ${failed} failed on the ledger as they had to, ${expired} expired; answers: ` +
      `${answers.taken} signatures, ${answers.refused} refusals (${turnedAway} for want of the blockhash), ` +
      `${answers.unknown} unknown, ${answers.silent} none`,
    `memory of the gateway ${sparkline(parts.gauge.memoryMib)} ${result.memory.mib} MiB; second half against the first: ${growth}`,
    `the gateway took ${result.memory.cpuShare.toFixed(2)} of a processor, and waited ${result.waitedSeconds} s for one that others held`,
    ...(result.broken.length === 0
      ? ['Every promise was kept.']
      : result.broken.map((one) => `BROKEN ${one}`)),
  ].join('\n');
}

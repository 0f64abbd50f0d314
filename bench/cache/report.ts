import { type Setting, type Spread, settingOf, spread } from '../results.ts';

/** What one variant did in one round. */
export type Measured = Readonly<{
  variant: string;
  requestsPerCpuSecond: number;
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  residentMib: number;
}>;

/** How many calls reached the node while many clients asked the same. */
export type Counted = Readonly<{
  clients: number;
  seconds: number;
  requests: number;
  /** Slots of the node that began while they asked, and the one that they began in. */
  slots: number;
  upstreamCalls: number;
}>;

export type Line = Readonly<{
  variant: string;
  requestsPerCpuSecond: Spread;
  /** Of solway to this variant, round by round. */
  solwayRatio: Spread;
  p50Ms: number;
  p99Ms: number;
  residentMib: number;
}>;

export type Summary = Setting &
  Readonly<{
    rounds: number;
    seconds: number;
    connections: number;
    lines: readonly Line[];
    counted: Counted;
  }>;

const median = (values: readonly number[]): number => spread(values).median;

function line(name: string, rounds: readonly (readonly Measured[])[]): Line {
  const of = (round: readonly Measured[], variant: string) => round.find((one) => one.variant === variant)!;
  const own = rounds.map((round) => of(round, name));
  const ratios = rounds.map(
    (round) => of(round, 'solway').requestsPerCpuSecond / of(round, name).requestsPerCpuSecond,
  );
  return {
    variant: name,
    requestsPerCpuSecond: spread(own.map((one) => one.requestsPerCpuSecond)),
    solwayRatio: spread(ratios),
    p50Ms: median(own.map((one) => one.p50Ms)),
    p99Ms: median(own.map((one) => one.p99Ms)),
    residentMib: median(own.map((one) => one.residentMib)),
  };
}

/** Medians over the rounds; ratios are taken round by round, then their median. */
export function summarize(
  rounds: readonly (readonly Measured[])[],
  counted: Counted,
  setup: Readonly<{ connections: number; seconds: number }>,
): Summary {
  const names = rounds[0]?.map(({ variant }) => variant) ?? [];
  return {
    ...settingOf(`npm run bench -- cache --rounds ${rounds.length} --seconds ${setup.seconds}`),
    rounds: rounds.length,
    ...setup,
    lines: names.map((name) => line(name, rounds)),
    counted,
  };
}

const BAR = 40;

/** The summary as a person reads it. */
export function render(summary: Summary): string {
  const best = Math.max(...summary.lines.map(({ requestsPerCpuSecond }) => requestsPerCpuSecond.median));
  const rows = summary.lines.map((one) => {
    const bar = '█'.repeat(Math.max(1, Math.round((one.requestsPerCpuSecond.median / best) * BAR)));
    const { median: ratio, min, max } = one.solwayRatio;
    return [
      one.variant.padEnd(18),
      bar.padEnd(BAR),
      `${Math.round(one.requestsPerCpuSecond.median)}`.padStart(8),
      `${ratio.toFixed(2)} [${min.toFixed(2)}-${max.toFixed(2)}]`.padStart(18),
      `${one.p50Ms.toFixed(2)} / ${one.p99Ms.toFixed(2)}`.padStart(14),
      `${one.residentMib} MiB`.padStart(9),
    ].join(' ');
  });
  const head = [
    'variant'.padEnd(18),
    'requests per CPU second of the server'.padEnd(BAR + 9),
    'solway to it'.padStart(18),
    'ms p50/p99'.padStart(14),
    'memory'.padStart(9),
  ].join(' ');
  const setup = [
    `${summary.rounds} rounds of ${summary.seconds} s, ${summary.connections} connections`,
    ...[summary.machine, summary.node, summary.commit],
  ].join('; ');
  const { clients, requests, slots, upstreamCalls } = summary.counted;
  const asked = `${clients} clients asked ${requests} times for one account in ${slots} slots`;
  const count = `${asked}: ${upstreamCalls} calls to the node`;
  return `\n${setup}\n\n${head}\n${rows.join('\n')}\n\n${count}\n`;
}

import { type Setting, type Spread, settingOf, spread } from '../results.ts';

export type Latency = Readonly<{ p50Ms: number; p99Ms: number }>;

/** What one variant did in one round. */
export type Measured = Readonly<{
  variant: string;
  requestsPerCpuSecond: number;
  requestsPerSecond: number;
  /** Under full load: mostly the queue of the load generator's connections. */
  loaded: Latency;
  /** One request at a time: what the variant itself adds. */
  single: Latency;
  residentMib: number;
}>;

/** A variant over all rounds; ratios are to nginx, or to the direct upstream where there is no nginx. */
export type Line = Readonly<{
  variant: string;
  requestsPerCpuSecond: Spread;
  cpuRatio: Spread;
  single: Latency;
  /** Milliseconds added to the direct upstream, one request at a time. */
  addedP50Ms: number;
  addedP99Ms: number;
  loaded: Latency;
  residentMib: number;
}>;

export type Summary = Setting &
  Readonly<{
    rounds: number;
    seconds: number;
    connections: number;
    comparedWith: string;
    lines: readonly Line[];
    /** Added latency of solway as a multiple of nginx's; null without nginx. */
    addedLatencyRatio: Readonly<{ p50: number; p99: number }> | null;
  }>;

const median = (values: readonly number[]): number => spread(values).median;

function line(name: string, reference: string, rounds: readonly (readonly Measured[])[]): Line {
  const of = (round: readonly Measured[], variant: string) => round.find((one) => one.variant === variant)!;
  const own = rounds.map((round) => of(round, name));
  const added = (pick: (latency: Latency) => number) =>
    median(rounds.map((round) => pick(of(round, name).single) - pick(of(round, 'direct').single)));
  return {
    variant: name,
    requestsPerCpuSecond: spread(own.map((one) => one.requestsPerCpuSecond)),
    cpuRatio: spread(
      rounds.map((round) => of(round, name).requestsPerCpuSecond / of(round, reference).requestsPerCpuSecond),
    ),
    single: {
      p50Ms: median(own.map((one) => one.single.p50Ms)),
      p99Ms: median(own.map((one) => one.single.p99Ms)),
    },
    addedP50Ms: added((latency) => latency.p50Ms),
    addedP99Ms: added((latency) => latency.p99Ms),
    loaded: {
      p50Ms: median(own.map((one) => one.loaded.p50Ms)),
      p99Ms: median(own.map((one) => one.loaded.p99Ms)),
    },
    residentMib: median(own.map((one) => one.residentMib)),
  };
}

/** Medians and ratios over the rounds; ratios are taken round by round, then their median. */
export function summarize(
  rounds: readonly (readonly Measured[])[],
  setup: Readonly<{ connections: number; seconds: number }>,
): Summary {
  const names = rounds[0]?.map(({ variant }) => variant) ?? [];
  const comparedWith = names.includes('nginx') ? 'nginx' : 'direct';
  const lines = names.map((name) => line(name, comparedWith, rounds));
  const solway = lines.find(({ variant }) => variant === 'solway');
  const nginx = lines.find(({ variant }) => variant === 'nginx');
  return {
    ...settingOf(`npm run bench -- rpc --rounds ${rounds.length} --seconds ${setup.seconds}`),
    rounds: rounds.length,
    ...setup,
    comparedWith,
    lines,
    addedLatencyRatio:
      solway === undefined || nginx === undefined
        ? null
        : { p50: solway.addedP50Ms / nginx.addedP50Ms, p99: solway.addedP99Ms / nginx.addedP99Ms },
  };
}

const BAR = 40;

/** The summary as a person reads it: a bar for what is compared, the numbers beside it. */
export function render(summary: Summary): string {
  const best = Math.max(...summary.lines.map(({ requestsPerCpuSecond }) => requestsPerCpuSecond.median));
  const rows = summary.lines.map((one) => {
    const bar = '█'.repeat(Math.max(1, Math.round((one.requestsPerCpuSecond.median / best) * BAR)));
    return [
      one.variant.padEnd(8),
      bar.padEnd(BAR),
      `${Math.round(one.requestsPerCpuSecond.median)}`.padStart(8),
      `${one.cpuRatio.median.toFixed(2)} [${one.cpuRatio.min.toFixed(2)}-${one.cpuRatio.max.toFixed(2)}]`.padStart(
        18,
      ),
      `+${one.addedP50Ms.toFixed(3)} / +${one.addedP99Ms.toFixed(3)}`.padStart(18),
      `${one.residentMib} MiB`.padStart(9),
    ].join(' ');
  });
  const head = [
    'variant'.padEnd(8),
    'requests per CPU second of the server'.padEnd(BAR + 9),
    `ratio to ${summary.comparedWith}`.padStart(18),
    'added ms p50/p99'.padStart(18),
    'memory'.padStart(9),
  ].join(' ');
  const setup = [
    `${summary.rounds} rounds of ${summary.seconds} s, ${summary.connections} connections`,
    summary.machine,
    summary.node,
    summary.commit,
  ].join('; ');
  const ratio = summary.addedLatencyRatio;
  const latency =
    ratio === null
      ? ''
      : `\nadded latency, solway : nginx = ${ratio.p50.toFixed(2)} at p50, ${ratio.p99.toFixed(2)} at p99\n`;
  return `\n${setup}\n\n${head}\n${rows.join('\n')}\n${latency}`;
}

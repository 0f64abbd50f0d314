import { type Setting, type Spread, settingOf, spread } from '../results.ts';
import type { Crowd, SpreadLoad } from './messages.ts';

/** Cost per message of a server in a round. */
export type Measured = Readonly<{ crowd: Crowd; perTurn: number; variant: string; microseconds: number }>;

/** Cost of an update that matches one of many filters. */
export type Matched = Readonly<{ load: SpreadLoad; filters: number; microseconds: number }>;

/** Numbers of filters to compare. */
export type Spreading = Readonly<{ load: SpreadLoad; filterCounts: readonly number[] }>;

type Line = Crowd &
  Readonly<{
    /** Updates per turn of the event loop. */
    perTurn: number;
    /** Microseconds of CPU per delivered message. */
    solway: Spread;
    grpcJs: Spread;
    /** Cost ratio per round. */
    ratio: Spread;
  }>;

type Matching = Readonly<{
  filters: number;
  microseconds: Spread;
  /** Ratio to the fewest filters. */
  ratio: Spread;
}>;

export type Summary = Setting &
  Readonly<{
    rounds: number;
    seconds: number;
    lines: readonly Line[];
    /** Filters by address. */
    matching: readonly Matching[];
    /** Filters by data. */
    matchingData: readonly (Matching & Readonly<{ load: SpreadLoad }>)[];
  }>;

type Plan = Readonly<{
  crowds: readonly Crowd[];
  perTurns: readonly number[];
  spreadings: readonly Spreading[];
}>;

function line(crowd: Crowd, perTurn: number, measured: readonly Measured[]): Line {
  const of = (variant: string): number[] =>
    measured
      .filter((one) => one.crowd === crowd && one.perTurn === perTurn && one.variant === variant)
      .map(({ microseconds }) => microseconds);
  const [solway, grpcJs] = [of('solway'), of('grpc-js')];
  const ratio = spread(grpcJs.map((value, round) => value / (solway[round] ?? Number.NaN)));
  return { ...crowd, perTurn, solway: spread(solway), grpcJs: spread(grpcJs), ratio };
}

function matchings({ load, filterCounts }: Spreading, matched: readonly Matched[]): Matching[] {
  const of = (count: number | undefined): number[] =>
    matched
      .filter((one) => one.load === load && one.filters === count)
      .map(({ microseconds }) => microseconds);
  const least = of(filterCounts[0]);
  return filterCounts.map((filters) => {
    const own = of(filters);
    const ratio = spread(own.map((value, round) => value / (least[round] ?? Number.NaN)));
    return { filters, microseconds: spread(own), ratio };
  });
}

export function summarize(
  { crowds, perTurns, spreadings }: Plan,
  measured: readonly Measured[],
  matched: readonly Matched[],
  setup: Readonly<{ rounds: number; seconds: number }>,
): Summary {
  const [byAddress, byData] = [
    spreadings.filter(({ load }) => load === 'spread'),
    spreadings.filter(({ load }) => load !== 'spread'),
  ];
  return {
    ...settingOf(`npm run bench -- grpc --rounds ${setup.rounds} --seconds ${setup.seconds}`),
    ...setup,
    lines: crowds.flatMap((crowd) => perTurns.map((perTurn) => line(crowd, perTurn, measured))),
    matching: byAddress.flatMap((each) => matchings(each, matched)),
    matchingData: byData.flatMap((each) =>
      matchings(each, matched).map((one) => ({ load: each.load, ...one })),
    ),
  };
}

const micros = (value: number): string => `${value.toFixed(2)} µs`;
const times = ({ median, min, max }: Spread): string =>
  `${median.toFixed(2)} [${min.toFixed(2)}-${max.toFixed(2)}]`;
const crowdText = ({ streams, load }: Crowd): string =>
  `${load === 'accounts' ? '1 KiB accounts' : 'mainnet blocks'} to ${streams}`.padEnd(24);

const cost = ({ filters, microseconds, ratio }: Matching): string =>
  [`${filters} filters`.padEnd(24), micros(microseconds.median).padStart(19), times(ratio).padStart(22)].join(
    ' ',
  );

export function render(summary: Summary): string {
  const lines = summary.lines.map((one) =>
    [
      crowdText(one),
      String(one.perTurn).padStart(8),
      micros(one.solway.median).padStart(10),
      micros(one.grpcJs.median).padStart(10),
      times(one.ratio).padStart(22),
    ].join(' '),
  );
  const byData = summary.matchingData.flatMap((one, nth, all) =>
    one.load === all[nth - 1]?.load ? [cost(one)] : [one.load, cost(one)],
  );
  return [
    '',
    [`${summary.rounds} rounds of ${summary.seconds} s`, summary.machine, summary.node, summary.commit].join(
      '; ',
    ),
    '',
    'CPU of the server per delivered message',
    `${'updates to streams'.padEnd(24)} ${'per turn'} ${'solway'.padStart(10)} ${'grpc-js'.padStart(10)} ${'times cheaper'.padStart(22)}`,
    ...lines,
    '',
    'CPU per update that matches one account filter of ten streams',
    `${'distinct filters'.padEnd(24)} ${'solway'.padStart(19)} ${'to fewest'.padStart(22)}`,
    ...summary.matching.map(cost),
    ...byData,
    '',
  ].join('\n');
}

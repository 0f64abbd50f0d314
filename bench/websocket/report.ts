import { type Setting, type Spread, settingOf, spread } from '../results.ts';
import { FRAME_BYTES } from './messages.ts';

/** Subscribers and their accounts. */
export type Crowd = Readonly<{ subscribers: number; accounts: number }>;

/** Throughput of a server in a round. */
export type Measured = Readonly<{
  crowd: Crowd;
  perTick: number;
  variant: string;
  messagesPerCpuSecond: number;
}>;

/** Memory per connection with one subscription. */
export type Weighed = Readonly<{ crowd: Crowd; variant: string; bytesPerConnection: number }>;

export type Line = Crowd &
  Readonly<{
    /** Messages per subscriber in one turn of the event loop. */
    perTick: number;
    solway: Spread;
    plain: Spread;
    /** Ratio of messages per CPU second per round. */
    ratio: Spread;
  }>;

export type Memory = Crowd & Readonly<{ solwayBytes: number; plainBytes: number }>;

export type Summary = Setting &
  Readonly<{
    rounds: number;
    seconds: number;
    messageBytes: number;
    lines: readonly Line[];
    memory: readonly Memory[];
  }>;

const isOf = (crowd: Crowd) => (one: { crowd: Crowd }) =>
  one.crowd.subscribers === crowd.subscribers && one.crowd.accounts === crowd.accounts;

function line(crowd: Crowd, perTick: number, measured: readonly Measured[]): Line {
  const of = (variant: string): number[] =>
    measured
      .filter((one) => isOf(crowd)(one) && one.perTick === perTick && one.variant === variant)
      .map(({ messagesPerCpuSecond }) => messagesPerCpuSecond);
  const [solway, plain] = [of('solway'), of('plain')];
  const ratio = spread(solway.map((value, round) => value / (plain[round] ?? Number.NaN)));
  return { ...crowd, perTick, solway: spread(solway), plain: spread(plain), ratio };
}

function memory(crowd: Crowd, weighed: readonly Weighed[]): Memory {
  const of = (variant: string): number =>
    weighed.find((one) => isOf(crowd)(one) && one.variant === variant)?.bytesPerConnection ?? Number.NaN;
  return { ...crowd, solwayBytes: of('solway'), plainBytes: of('plain') };
}

export function summarize(
  crowds: readonly Crowd[],
  perTicks: readonly number[],
  measured: readonly Measured[],
  weighed: readonly Weighed[],
  setup: Readonly<{ rounds: number; seconds: number }>,
): Summary {
  return {
    ...settingOf(`npm run bench -- websocket --rounds ${setup.rounds} --seconds ${setup.seconds}`),
    ...setup,
    messageBytes: FRAME_BYTES,
    lines: crowds.flatMap((crowd) => perTicks.map((perTick) => line(crowd, perTick, measured))),
    memory: crowds.map((crowd) => memory(crowd, weighed)),
  };
}

const thousands = (value: number): string => `${Math.round(value / 1000)}k`;
const kib = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KiB`;
const crowdText = ({ subscribers, accounts }: Crowd): string =>
  `${subscribers} of ${accounts === 1 ? 'one account' : `${accounts} accounts`}`.padEnd(24);

export function render(summary: Summary): string {
  const lines = summary.lines.map((one) =>
    [
      crowdText(one),
      String(one.perTick).padStart(8),
      thousands(one.solway.median).padStart(9),
      thousands(one.plain.median).padStart(9),
      `${one.ratio.median.toFixed(2)} [${one.ratio.min.toFixed(2)}-${one.ratio.max.toFixed(2)}]`.padStart(20),
    ].join(' '),
  );
  const weights = summary.memory.map((one) =>
    [crowdText(one), kib(one.solwayBytes).padStart(18), kib(one.plainBytes).padStart(9)].join(' '),
  );
  return [
    '',
    [
      `${summary.rounds} rounds of ${summary.seconds} s, messages of ${summary.messageBytes} bytes`,
      summary.machine,
      summary.node,
      summary.commit,
    ].join('; '),
    '',
    'messages per CPU second of the server',
    `${'subscribers'.padEnd(24)} ${'per tick'} ${'solway'.padStart(9)} ${'plain ws'.padStart(9)} ${'ratio'.padStart(20)}`,
    ...lines,
    '',
    'memory per connection with one subscription',
    `${'subscribers'.padEnd(24)} ${'solway'.padStart(18)} ${'plain ws'.padStart(9)}`,
    ...weights,
    '',
  ].join('\n');
}

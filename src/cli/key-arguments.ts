import { ArgumentsError } from '../config/errors.ts';
import type { OptionValues } from '../config/sources.ts';
import { list, text } from './action-command.ts';

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Unix milliseconds of a date (UTC), a time (local by default) or a duration from `now`. @throws ArgumentsError */
export function parseExpiry(text: string, now: number): number {
  const span = /^(\d{1,5})([mhd])$/.exec(text);
  if (span !== null) return now + Number(span[1]) * units[span[2] as keyof typeof units];
  const time = /^\d{4}-\d{2}-\d{2}(T|$)/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(time)) return time;
  throw new ArgumentsError(
    '--expires must be a date such as 2027-01-31 or a duration such as 30d, 12h or 90m',
  );
}

/** Parses a number of hours, which may have a fraction. @throws ArgumentsError */
export function parseHours(text: string): number {
  if (/^\d{1,5}(\.\d{1,4})?$/.test(text)) return Number(text);
  throw new ArgumentsError('--overlap must be a number of hours such as 24, 0.5 or 0');
}

const INPUT_MAX_BYTES = 65_536;

/** Reads a secret from standard input, to keep it out of the shell history. @throws ArgumentsError */
export async function readSecret(input: AsyncIterable<Buffer | string>): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of input) {
    pieces.push(Buffer.from(piece));
    bytes += piece.length;
    if (bytes > INPUT_MAX_BYTES)
      throw new ArgumentsError(`standard input is longer than ${INPUT_MAX_BYTES} bytes`);
  }
  const text = Buffer.concat(pieces).toString('utf8').trim();
  if (text === '') throw new ArgumentsError('standard input is empty: echo "$KEY" | solway keys whose -');
  return text;
}

export const ruleOptions = {
  ...{ network: list, cidr: list, origin: list, method: list },
  ...{ rate: text, 'address-rate': text, 'log-bodies': text, 'never-back': text },
};

/** Option value that removes the rule. */
const ANY = 'any';

/** Merges repeated and comma-separated values. Returns null for `any`, which removes the rule. */
function listOf(option: string, values: readonly string[] | undefined): string[] | null | undefined {
  if (values === undefined) return undefined;
  const items = values.flatMap((value) => value.split(',')).map((item) => item.trim());
  if (!items.includes(ANY)) return items;
  if (items.length === 1) return null;
  throw new ArgumentsError(`--${option} any removes the rule and cannot be combined with other values`);
}

function rateOf(value: string | undefined): { perSecond: number; burst: number } | null | undefined {
  if (value === undefined) return undefined;
  if (value === 'plan') return null;
  const match = /^([1-9]\d{0,7})(?:\/([1-9]\d{0,7}))?$/.exec(value);
  if (match === null)
    throw new ArgumentsError(
      '--rate must be requests per second such as 50, with a burst such as 50/100, or plan',
    );
  const perSecond = Number(match[1]);
  return { perSecond, burst: Number(match[2] ?? perSecond) };
}

function addressRateOf(value: string | undefined): number | null | undefined {
  if (value === undefined) return undefined;
  if (value === ANY) return null;
  if (/^[1-9]\d{0,6}$/.test(value)) return Number(value);
  throw new ArgumentsError('--address-rate must be requests per second such as 10, or any');
}

function switchOf(option: string, value: string | undefined): boolean | undefined {
  if (value === undefined) return undefined;
  if (value === 'yes' || value === 'no') return value === 'yes';
  throw new ArgumentsError(`--${option} must be yes or no`);
}

/** Rules given on the command line; omitted rules are undefined. @throws ArgumentsError */
export const rulesOf = (values: OptionValues<typeof ruleOptions>) => ({
  networks: listOf('network', values.network),
  cidrs: listOf('cidr', values.cidr),
  origins: listOf('origin', values.origin),
  methods: listOf('method', values.method),
  rate: rateOf(values.rate),
  addressPerSecond: addressRateOf(values['address-rate']),
  logsBodies: switchOf('log-bodies', values['log-bodies']),
  neverBack: switchOf('never-back', values['never-back']),
});

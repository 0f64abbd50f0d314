import { UsageError } from './command.ts';

/** What the command line says of what a key may be used for. */
export type RuleValues = Readonly<{
  network?: readonly string[];
  cidr?: readonly string[];
  origin?: readonly string[];
  method?: readonly string[];
  rate?: string;
  'address-rate'?: string;
  'log-bodies'?: string;
  'never-back'?: string;
}>;

/** In place of a list: no such rule. */
const ANY = 'any';

/** Several options, or several words in one; null: any. @throws UsageError */
function listOf(option: string, values: readonly string[] | undefined): string[] | null | undefined {
  if (values === undefined) return undefined;
  const items = values.flatMap((value) => value.split(',')).map((item) => item.trim());
  if (!items.includes(ANY)) return items;
  if (items.length === 1) return null;
  throw new UsageError(`--${option} any stands alone: it takes the rule away`);
}

/** @throws UsageError */
function rateOf(value: string | undefined): { perSecond: number; burst: number } | null | undefined {
  if (value === undefined) return undefined;
  if (value === 'plan') return null;
  const match = /^(\d{1,8})(?:\/(\d{1,8}))?$/.exec(value);
  if (match === null)
    throw new UsageError('--rate is calls a second such as 50, with a burst 50/100, or plan');
  const perSecond = Number(match[1]);
  return { perSecond, burst: Number(match[2] ?? perSecond) };
}

/** @throws UsageError */
function addressRateOf(value: string | undefined): number | null | undefined {
  if (value === undefined) return undefined;
  if (value === ANY) return null;
  if (/^\d{1,7}$/.test(value)) return Number(value);
  throw new UsageError('--address-rate is calls a second such as 10, or any');
}

/** @throws UsageError */
function switchOf(option: string, value: string | undefined): boolean | undefined {
  if (value === undefined) return undefined;
  if (value === 'yes' || value === 'no') return value === 'yes';
  throw new UsageError(`--${option} is yes or no`);
}

/** The rules that the command line gives; undefined for those it says nothing of. @throws UsageError */
export const rulesOf = (values: RuleValues) => ({
  networks: listOf('network', values.network),
  cidrs: listOf('cidr', values.cidr),
  origins: listOf('origin', values.origin),
  methods: listOf('method', values.method),
  rate: rateOf(values.rate),
  addressPerSecond: addressRateOf(values['address-rate']),
  logsBodies: switchOf('log-bodies', values['log-bodies']),
  neverBack: switchOf('never-back', values['never-back']),
});

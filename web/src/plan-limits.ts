import type { RouteOutput } from '../../src/control/api/contract/contract.ts';
import { formatBytes, formatCount, formatMoney } from './format.ts';

export type Plan = RouteOutput<'GET /plans'>['plans'][number];
type Limit = number | boolean | Readonly<Record<string, number>>;

export const limitNames: Readonly<Record<string, string>> = {
  rpcPerSecond: 'Requests per second',
  rpcBurst: 'Burst',
  monthlyCredits: 'Monthly credit limit',
  quotaIsHard: 'Hard limit',
  streamCredits: 'Credits per 100 kB streamed',
  prices: 'Pricing',
  wsConnectionsMax: 'WebSocket connections',
  wsSubscriptionsMax: 'Subscriptions per WebSocket',
  wsMessageMaxBytes: 'Max WebSocket message size',
  grpcStreamsMax: 'gRPC streams',
  grpcFiltersMax: 'gRPC filters per request',
  grpcBlocksMax: 'gRPC block filters per request',
  grpcPubkeysMax: 'gRPC addresses per request',
  grpcCuckooMaxBytes: 'Cuckoo filter size',
};

/** Texts for 0 of limits whose 0 does not mean none. */
const zeroLimits: Readonly<Record<string, string>> = {
  rpcPerSecond: 'Unlimited',
  monthlyCredits: 'Unlimited',
  streamCredits: 'Free',
};

export function limitText(name: string, value: Limit): string {
  if (value === 0 && zeroLimits[name] !== undefined) return zeroLimits[name];
  if (typeof value === 'number') return name.endsWith('Bytes') ? formatBytes(value) : formatCount(value);
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  const prices = Object.entries(value);
  return prices.length === 0 ? 'Default' : prices.map(([name, credits]) => `${name} ${credits}`).join(', ');
}

export function priceText(price: Plan['price']): string {
  if (price === null) return 'No price';
  const { currency, monthlyPrice, includedCredits, pricePerMillion } = price;
  const more =
    pricePerMillion === 0 ? '' : `, then ${formatMoney(pricePerMillion, currency)} per million credits`;
  return `${formatMoney(monthlyPrice, currency)} per month with ${formatCount(includedCredits)} credits${more}`;
}

type PlanFields = Pick<Plan, 'name' | 'limits' | 'price'>;

/** The name, price and limits of a plan, as facts. */
export const textsOf = ({ name, limits, price }: PlanFields): Record<string, string> => ({
  Name: name,
  Price: priceText(price),
  ...Object.fromEntries(
    Object.entries(limits).map(([limit, value]) => [limitNames[limit] ?? limit, limitText(limit, value)]),
  ),
});

/** Fields that differ, as facts: the name, and the value before and after. */
export function planDifferences(before: PlanFields, after: PlanFields): [name: string, value: string][] {
  const old = textsOf(before);
  return Object.entries(textsOf(after))
    .filter(([field, text]) => old[field] !== text)
    .map(([field, text]) => [field, `${old[field] ?? '–'} → ${text}`]);
}

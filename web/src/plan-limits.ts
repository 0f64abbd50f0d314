import type { RouteOutput } from '../../src/control/api/contract/contract.ts';
import { formatBytes, formatCount } from './format.ts';

type Limit = RouteOutput<'GET /plans'>['plans'][number]['limits'][string];

export const limitNames: Readonly<Record<string, string>> = {
  rpcPerSecond: 'Requests per second',
  rpcBurst: 'Burst',
  monthlyCredits: 'Credits per month',
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

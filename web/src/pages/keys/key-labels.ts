import type { KeyJson } from '../../../../src/control/api/contract/keys.ts';
import { formatTime } from '../../format.ts';
import type { Product } from '../../product-names.ts';
import type { Tone } from '../../ui/chip.tsx';

export type KeyStatus = KeyJson['state'];

export const productUses: Readonly<Record<Product, string>> = {
  rpc: 'JSON-RPC, WebSocket subscriptions, and REST',
  grpc: 'Yellowstone gRPC streams',
  fs: 'Transactions before execution, over gRPC',
};

export const statusTones: Readonly<Record<KeyStatus, Tone>> = {
  active: 'good',
  rotating: 'warn',
  disabled: 'neutral',
  expired: 'neutral',
  revoked: 'bad',
};

export const isInactive = (state: KeyStatus): boolean => state === 'expired' || state === 'revoked';

export type RuleName =
  | 'networks'
  | 'cidrs'
  | 'origins'
  | 'methods'
  | 'rate'
  | 'addressPerSecond'
  | 'expiresAt'
  | 'logsBodies'
  | 'neverBack';

export function ruleFacts(key: Pick<KeyJson, RuleName>): readonly (readonly [name: string, value: string])[] {
  const { networks, cidrs, origins, methods, rate, addressPerSecond, expiresAt } = key;
  return [
    ['Allowed networks', networks?.join(', ') ?? 'All'],
    ['Allowed IP addresses', cidrs?.join(', ') ?? 'Any'],
    ['Allowed origins', origins?.join(', ') ?? 'Any'],
    ['Allowed methods', methods?.join(', ') ?? 'All'],
    ['Rate limit', rate === null ? 'Limit of the plan' : `${rate.perSecond} requests/s, burst ${rate.burst}`],
    [
      'Rate limit per IP address',
      addressPerSecond === null ? 'No separate limit' : `${addressPerSecond} requests/s`,
    ],
    ['Expires', expiresAt === null ? 'Never' : `${formatTime(expiresAt)} UTC`],
    ['Request log', key.logsBodies ? 'Includes parameters and results (truncated)' : 'Metadata only'],
    ['Monotonic reads', key.neverBack ? 'On' : 'Off'],
  ];
}

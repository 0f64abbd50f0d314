import type { KeyJson } from '../../../../src/control/api/contract/keys.ts';
import { formatTime } from '../../format.ts';
import type { Tone } from '../../ui/chip.tsx';

/** What keys are for and how they stand, in words. */

export type Product = KeyJson['product'];
export type KeyStatus = KeyJson['state'];

export const productNames: Readonly<Record<Product, string>> = {
  rpc: 'RPC',
  grpc: 'gRPC',
  fs: 'Shreds',
};

export const productUses: Readonly<Record<Product, string>> = {
  rpc: 'JSON-RPC, WebSocket subscriptions and REST',
  grpc: 'Yellowstone gRPC streams',
  fs: 'transactions before they are run, over gRPC',
};

export const statusTones: Readonly<Record<KeyStatus, Tone>> = {
  active: 'good',
  rotating: 'warn',
  disabled: 'neutral',
  expired: 'neutral',
  revoked: 'bad',
};

export const isEnded = (state: KeyStatus): boolean => state === 'expired' || state === 'revoked';

/** What a key may be restricted by. */
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

/** Rules of a key as facts, each with what holds where nothing is said. */
export function ruleFacts(key: Pick<KeyJson, RuleName>): readonly (readonly [name: string, value: string])[] {
  const { networks, cidrs, origins, methods, rate, addressPerSecond, expiresAt } = key;
  return [
    ['Networks', networks?.join(', ') ?? 'all'],
    ['Addresses', cidrs?.join(', ') ?? 'any'],
    ['Origins', origins?.join(', ') ?? 'any, and none'],
    ['Methods', methods?.join(', ') ?? 'all'],
    ['Rate', rate === null ? 'as the plan has it' : `${rate.perSecond} a second, ${rate.burst} at once`],
    ['From one address', addressPerSecond === null ? 'as much as the key' : `${addressPerSecond} a second`],
    ['Expires', expiresAt === null ? 'never' : `${formatTime(expiresAt)} UTC`],
    [
      'Request log',
      key.logsBodies ? 'keeps the start of parameters and results' : 'keeps no parameters and results',
    ],
    ['Reads', key.neverBack ? 'never go back' : 'as the nodes have come'],
  ];
}

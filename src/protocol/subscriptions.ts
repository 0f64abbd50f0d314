import type { Address } from '../solana/address.ts';
import type { AccountEncoding, BlockView } from '../solana/encoding/encodings.ts';
import type { Signature } from '../solana/signature.ts';
import type { Commitment } from './commitment.ts';
import type { AccountFilter } from './rpc/account-filter.ts';

/** Sources: Agave rpc/src/rpc_pubsub.rs; reference solana-json-rpc.md §3.2 and, for `transaction`, §3.3. */

export type SubscriptionRow = Readonly<{
  subscribe: string;
  unsubscribe: string;
  notification: string;
  credits: number;
  /** Whether notifications missed during a feed outage are sent later; shown in the reference. */
  gap: 'refilled' | 'lost';
}>;

const row = (name: string, credits: number, gap: SubscriptionRow['gap']): SubscriptionRow => ({
  subscribe: `${name}Subscribe`,
  unsubscribe: `${name}Unsubscribe`,
  notification: `${name}Notification`,
  credits,
  gap,
});

// biome-ignore format: a table is read by its columns
export const subscriptions = {
  account: row('account', 1, 'refilled'),
  block: row('block', 5, 'refilled'),
  logs: row('logs', 1, 'refilled'),
  program: row('program', 5, 'refilled'),
  root: row('root', 1, 'refilled'),
  signature: row('signature', 1, 'refilled'),
  slot: row('slot', 1, 'refilled'),
  slotsUpdates: row('slotsUpdates', 1, 'lost'),
  transaction: row('transaction', 5, 'refilled'),
  vote: row('vote', 1, 'lost'),
} as const satisfies Record<string, SubscriptionRow>;

export type SubscriptionKind = keyof typeof subscriptions;

export type TransactionView = BlockView;

/** Whether token accounts count as mentions of their owner: never, on a balance change, or always. */
export const tokenAccountModes = ['none', 'balanceChanged', 'all'] as const;
export type TokenAccountMode = (typeof tokenAccountModes)[number];

/** All conditions that are set must match. */
export type TransactionFilter = Readonly<{
  vote: boolean | null;
  failed: boolean | null;
  signature: Signature | null;
  /** Matches if any address is a static or loaded key, or an owner added by `tokenAccounts`. Empty: always matches. */
  include: readonly Address[];
  exclude: readonly Address[];
  required: readonly Address[];
  tokenAccounts: TokenAccountMode;
}>;

export type Subscription = Readonly<
  | { kind: 'account'; address: Address; commitment: Commitment; encoding: AccountEncoding }
  | {
      kind: 'program';
      program: Address;
      commitment: Commitment;
      encoding: AccountEncoding;
      filters: readonly AccountFilter[];
    }
  | { kind: 'logs'; of: 'all' | 'allWithVotes' | Readonly<{ mentions: Address }>; commitment: Commitment }
  | { kind: 'signature'; signature: Signature; commitment: Commitment; received: boolean }
  | { kind: 'slot' }
  | { kind: 'slotsUpdates' }
  | { kind: 'root' }
  | { kind: 'vote' }
  | ({ kind: 'block'; mentions: Address | null; commitment: 'confirmed' | 'finalized' } & TransactionView)
  | ({
      kind: 'transaction';
      /** Source: solana-json-rpc.md §3.3. */
      dialect: 'helius' | 'whirligig';
      filter: TransactionFilter;
      commitment: Commitment;
    } & TransactionView)
>;

export type SubscriptionOf<Kind extends SubscriptionKind> = Extract<Subscription, { kind: Kind }>;

export type SubscriptionMethod = Readonly<{ kind: SubscriptionKind; action: 'subscribe' | 'unsubscribe' }>;

const methods = new Map<string, SubscriptionMethod>(
  (Object.keys(subscriptions) as SubscriptionKind[]).flatMap((kind) => [
    [subscriptions[kind].subscribe, { kind, action: 'subscribe' }],
    [subscriptions[kind].unsubscribe, { kind, action: 'unsubscribe' }],
  ]),
);

export const subscriptionByMethod = (name: string): SubscriptionMethod | undefined => methods.get(name);

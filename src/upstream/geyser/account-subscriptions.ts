import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson } from '../../base/json.ts';
import type { Logger } from '../../base/log.ts';
import { Failure } from '../../protocol/errors.ts';
import { encodeTimestamp } from '../../protocol/geyser/encode/envelope.ts';
import { rawAccount } from '../../protocol/geyser/encode/raw-account.ts';
import type { RawAccount } from '../../protocol/geyser/raw-update.ts';
import type { AccountsFilter, SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import type { Subscription } from '../../protocol/subscriptions.ts';
import { type Address, parseAddress } from '../../solana/address.ts';
import { MalformedJson, objectOf, stringOf } from '../../solana/encoding/read-json.ts';
import { readAccount } from '../../solana/encoding/ui-account.ts';
import type { Slot } from '../../solana/units.ts';
import type { Feed } from '../../streams/feed.ts';
import { withJitter } from '../exponential-backoff.ts';
import { contextValue } from '../feeds/gap/gap-recovery.ts';
import { contextSlot } from '../slots/context-slot.ts';
import { RateLimitedLogger } from './rate-limited-logger.ts';

type NamedAccounts = Readonly<{
  addresses: ReadonlySet<Address>;
  owners: ReadonlySet<Address>;
  /** Whether the request also matches accounts by cuckoo filter, by data, or without any filter. */
  hasUnnamed: boolean;
}>;

function filtersOf({ accounts, blocks }: SubscribeRequest): AccountsFilter[] {
  const filters = [...(accounts?.values() ?? [])];
  for (const { includeAccounts, accountInclude, cuckooAccountInclude } of blocks?.values() ?? []) {
    if (includeAccounts !== true) continue;
    filters.push({
      ...(accountInclude === undefined ? {} : { account: accountInclude }),
      ...(cuckooAccountInclude === undefined ? {} : { cuckooAccounts: cuckooAccountInclude }),
    });
  }
  return filters;
}

/** The addresses and owners in the filters. Unless `hasUnnamed`, they cover at least all accounts that match. */
export function namedAccounts(request: SubscribeRequest): NamedAccounts {
  const [addresses, owners] = [new Set<Address>(), new Set<Address>()];
  let hasUnnamed = false;
  for (const { account = [], owner = [], cuckooAccounts } of filtersOf(request)) {
    const isListed = account.length > 0 && cuckooAccounts === undefined;
    // An account must match both the addresses and the owners of a filter, so one of these lists is enough.
    if (!isListed && owner.length > 0) {
      for (const each of owner) owners.add(each);
      continue;
    }
    for (const each of account) addresses.add(each);
    hasUnnamed ||= !isListed;
  }
  return { addresses, owners, hasUnnamed };
}

type AccountSubscriptionsOptions = Readonly<{
  feed: Feed;
  subscriptionsMax: number;
  retryMs: number;
  emit: (account: RawAccount) => void;
  log: Logger;
}>;

type AccountSubscription = {
  readonly subscription: Subscription;
  watchCount: number;
  opened: Promise<void>;
  end: (() => void) | null;
  isClosed: boolean;
};

export type Watch = Readonly<{
  subscriptions: ReadonlyMap<string, AccountSubscription>;
  /** Resolves after the first attempt to open each subscription. Never rejects. */
  opened: Promise<void>;
  end: () => void;
}>;

const subscriptionOptions = { commitment: 'processed', encoding: 'base64' } as const;

function subscriptionsOf({ addresses, owners }: NamedAccounts): Map<string, Subscription> {
  const subscriptions = new Map<string, Subscription>();
  for (const address of addresses)
    subscriptions.set(address, { kind: 'account', address, ...subscriptionOptions });
  for (const program of owners) {
    subscriptions.set(`of ${program}`, { kind: 'program', program, filters: [], ...subscriptionOptions });
  }
  return subscriptions;
}

/** PubSub account subscriptions. PubSub reports only the last write to an account in each slot. */
export class AccountSubscriptions {
  readonly #options: AccountSubscriptionsOptions;
  readonly #log: RateLimitedLogger;
  readonly #subscriptions = new Map<string, AccountSubscription>();
  readonly #end = new AbortController();
  #writeVersion = 0n;

  constructor(options: AccountSubscriptionsOptions) {
    this.#options = options;
    this.#log = new RateLimitedLogger(options.log);
  }

  /**
   * @param replaced - a watch that the caller ends next; the limit ignores subscriptions that only this watch uses.
   * @throws Failure FILTER_LIMIT if this request alone exceeds the limit, OVERLOADED if all requests together do.
   */
  watch(names: NamedAccounts, replaced?: Watch): Watch {
    const requested = subscriptionsOf(names);
    this.#assertCapacity(requested, replaced?.subscriptions);
    const subscriptions = new Map<string, AccountSubscription>();
    for (const [key, subscription] of requested) {
      const accountSubscription = this.#subscriptions.get(key) ?? this.#startSubscription(key, subscription);
      accountSubscription.watchCount++;
      subscriptions.set(key, accountSubscription);
    }
    return {
      subscriptions,
      opened: Promise.all([...subscriptions.values()].map(({ opened }) => opened)).then(() => {}),
      end: () => {
        for (const [key, accountSubscription] of subscriptions)
          if (--accountSubscription.watchCount === 0) this.#removeSubscription(key, accountSubscription);
      },
    };
  }

  close(): void {
    this.#end.abort();
    for (const [key, accountSubscription] of this.#subscriptions)
      this.#removeSubscription(key, accountSubscription);
  }

  #assertCapacity(
    requested: ReadonlyMap<string, Subscription>,
    replaced: Watch['subscriptions'] = new Map(),
  ): void {
    const max = this.#options.subscriptionsMax;
    let count = this.#subscriptions.size;
    for (const key of requested.keys()) if (!this.#subscriptions.has(key)) count++;
    for (const [key, one] of replaced) {
      if (one.watchCount === 1 && this.#subscriptions.get(key) === one && !requested.has(key)) count--;
    }
    if (count <= max) return;
    this.#log.warn({ requested: requested.size, count, max }, 'PubSub account subscription limit reached');
    const code = requested.size > max ? 'FILTER_LIMIT' : 'OVERLOADED';
    throw new Failure(code, { facts: { of: 'accounts and owners', max } });
  }

  #startSubscription(key: string, subscription: Subscription): AccountSubscription {
    const accountSubscription: AccountSubscription = {
      subscription,
      watchCount: 0,
      opened: Promise.resolve(),
      end: null,
      isClosed: false,
    };
    this.#subscriptions.set(key, accountSubscription);
    accountSubscription.opened = this.#open(accountSubscription);
    return accountSubscription;
  }

  #removeSubscription(key: string, accountSubscription: AccountSubscription): void {
    accountSubscription.isClosed = true;
    accountSubscription.end?.();
    accountSubscription.end = null;
    this.#subscriptions.delete(key);
  }

  async #open(accountSubscription: AccountSubscription): Promise<void> {
    const { feed } = this.#options;
    try {
      const end = await feed.open(accountSubscription.subscription, {
        onNotification: (result) => this.#handleNotification(accountSubscription, result),
        onError: () => void this.#reopenLater(accountSubscription),
      });
      if (accountSubscription.isClosed) end();
      else accountSubscription.end = end;
    } catch (error) {
      const reason = error instanceof Failure ? error.code : 'rejected';
      this.#log.warn({ reason }, 'PubSub account subscription failed; retrying');
      void this.#reopenLater(accountSubscription);
    }
  }

  async #reopenLater(accountSubscription: AccountSubscription): Promise<void> {
    accountSubscription.end = null;
    const { signal } = this.#end;
    await sleep(withJitter(this.#options.retryMs), undefined, { signal }).catch(() => {});
    if (!accountSubscription.isClosed) await this.#open(accountSubscription);
  }

  #handleNotification({ subscription }: AccountSubscription, result: Buffer): void {
    const slot = contextSlot(result);
    if (slot === null) return;
    try {
      const write = this.#read(subscription, slot, parseJson(contextValue(result).toString('utf8')));
      if (write !== null) this.#options.emit(write);
    } catch (error) {
      if (!(error instanceof MalformedJson)) throw error;
      this.#options.log.warn({ reason: error.message }, 'Malformed account notification');
    }
  }

  #read(subscription: Subscription, slot: Slot, value: ReturnType<typeof parseJson>): RawAccount | null {
    let address: Address;
    let accountJson = value;
    if (subscription.kind === 'account') address = subscription.address;
    else {
      const keyed = objectOf(value, 'keyed account');
      const parsed = parseAddress(stringOf(keyed.pubkey, 'address'));
      if ('fault' in parsed || keyed.account === undefined) return null;
      address = parsed.address;
      accountJson = keyed.account;
    }
    this.#writeVersion++;
    const account = readAccount(accountJson);
    const write = { address, account, writeVersion: this.#writeVersion, signature: null };
    const createdAt = encodeTimestamp(BigInt(Date.now()));
    return rawAccount({ slot, createdAt, write, isStartup: false });
  }
}

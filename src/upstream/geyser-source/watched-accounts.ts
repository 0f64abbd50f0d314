import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson } from '../../base/json.ts';
import type { Logger } from '../../base/log.ts';
import { type Address, parseAddress } from '../../ledger/address.ts';
import { MalformedJson, objectOf, stringOf } from '../../ledger/encoding/read-json.ts';
import { readAccount } from '../../ledger/encoding/read-ui-account.ts';
import type { Slot } from '../../ledger/units.ts';
import { rawAccount } from '../../protocol/geyser/encode/raw-account.ts';
import { encodeTimestamp } from '../../protocol/geyser/encode/timestamp.ts';
import type { RawAccount } from '../../protocol/geyser/raw-update.ts';
import type { AccountsFilter } from '../../protocol/geyser/subscribe-request.ts';
import type { Subscription } from '../../protocol/subscriptions.ts';
import type { Feed } from '../../streams/feed.ts';
import { contextValue } from '../feeds/gap/context.ts';
import { spreadPause } from '../retry-pause.ts';
import { contextSlot } from '../slots/told-slot.ts';

type WatchedAccountsOptions = Readonly<{
  feed: Feed;
  /** Subscriptions at most; what is wanted beyond is not told. */
  subscriptionsMax: number;
  /** Pause before a subscription that failed is opened again. */
  retryMs: number;
  tell: (account: RawAccount) => void;
  log: Logger;
}>;

type Watched = { readonly subscription: Subscription; end: (() => void) | null; isOver: boolean };

const how = { commitment: 'processed', encoding: 'base64' } as const;

/** Subscriptions that tell what a filter wants, as far as PubSub can; none for all accounts there are. */
function subscriptionsOf({ account, owner }: AccountsFilter): Subscription[] {
  if (account !== undefined && account.length > 0) {
    return account.map((address) => ({ kind: 'account', address, ...how }));
  }
  return (owner ?? []).map((program) => ({ kind: 'program', program, filters: [], ...how }));
}

const keyOf = (subscription: Subscription): string =>
  subscription.kind === 'account' ? subscription.address : JSON.stringify(subscription);

/** Accounts that PubSub tells of, as writes of which only the last of a slot is known. */
export class WatchedAccounts {
  readonly #options: WatchedAccountsOptions;
  readonly #watched = new Map<string, Watched>();
  readonly #end = new AbortController();
  #version = 0n;
  #isFull = false;

  constructor(options: WatchedAccountsOptions) {
    this.#options = options;
  }

  /** Watches what these filters want and nothing else. @returns kept when nodes have heard of it. Never rejects. */
  async want(filters: Iterable<AccountsFilter>): Promise<void> {
    const wanted = new Map([...filters].flatMap(subscriptionsOf).map((one) => [keyOf(one), one] as const));
    for (const [key, watched] of this.#watched) if (!wanted.has(key)) this.#leave(key, watched);
    const opened: Promise<void>[] = [];
    for (const [key, subscription] of wanted) {
      if (this.#watched.has(key)) continue;
      if (this.#watched.size >= this.#options.subscriptionsMax) {
        if (!this.#isFull) this.#options.log.warn('more accounts are wanted than PubSub is asked for');
        this.#isFull = true;
        break;
      }
      const watched: Watched = { subscription, end: null, isOver: false };
      this.#watched.set(key, watched);
      opened.push(this.#open(watched));
    }
    await Promise.all(opened);
  }

  close(): void {
    this.#end.abort();
    for (const [key, watched] of this.#watched) this.#leave(key, watched);
  }

  #leave(key: string, watched: Watched): void {
    watched.isOver = true;
    watched.end?.();
    this.#watched.delete(key);
  }

  async #open(watched: Watched): Promise<void> {
    const { feed } = this.#options;
    try {
      const end = await feed.open(watched.subscription, {
        notify: (result) => this.#take(watched, result),
        fail: () => void this.#openLater(watched),
      });
      if (watched.isOver) end();
      else watched.end = end;
    } catch {
      void this.#openLater(watched);
    }
  }

  async #openLater(watched: Watched): Promise<void> {
    watched.end = null;
    const pause = spreadPause(this.#options.retryMs);
    await sleep(pause, undefined, { signal: this.#end.signal }).catch(() => {});
    if (!watched.isOver) await this.#open(watched);
  }

  #take({ subscription }: Watched, result: Buffer): void {
    const slot = contextSlot(result);
    if (slot === null) return;
    try {
      const write = this.#read(subscription, slot, parseJson(contextValue(result).toString('utf8')));
      if (write !== null) this.#options.tell(write);
    } catch (error) {
      if (!(error instanceof MalformedJson)) throw error;
      this.#options.log.warn({ reason: error.message }, 'a notification of an account cannot be read');
    }
  }

  #read(subscription: Subscription, slot: Slot, value: ReturnType<typeof parseJson>): RawAccount | null {
    let address: Address;
    let shown = value;
    if (subscription.kind === 'account') address = subscription.address;
    else {
      const keyed = objectOf(value, 'a keyed account');
      const parsed = parseAddress(stringOf(keyed.pubkey, 'an address'));
      if ('fault' in parsed || keyed.account === undefined) return null;
      address = parsed.address;
      shown = keyed.account;
    }
    this.#version++;
    const write = { address, account: readAccount(shown), writeVersion: this.#version, signature: null };
    const createdAt = encodeTimestamp(BigInt(Date.now()));
    return rawAccount({ slot, createdAt, write, isStartup: false });
  }
}

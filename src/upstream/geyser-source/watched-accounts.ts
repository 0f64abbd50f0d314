import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson } from '../../base/json.ts';
import type { Logger } from '../../base/log.ts';
import { type Address, parseAddress } from '../../ledger/address.ts';
import { MalformedJson, objectOf, stringOf } from '../../ledger/encoding/read-json.ts';
import { readAccount } from '../../ledger/encoding/read-ui-account.ts';
import type { Slot } from '../../ledger/units.ts';
import { Failure } from '../../protocol/errors.ts';
import { rawAccount } from '../../protocol/geyser/encode/raw-account.ts';
import { encodeTimestamp } from '../../protocol/geyser/encode/timestamp.ts';
import type { RawAccount } from '../../protocol/geyser/raw-update.ts';
import type { Subscription } from '../../protocol/subscriptions.ts';
import type { Feed } from '../../streams/feed.ts';
import { contextValue } from '../feeds/gap/context.ts';
import { spreadPause } from '../retry-pause.ts';
import { contextSlot } from '../slots/told-slot.ts';
import type { NamedAccounts } from './named-accounts.ts';
import { SparingLog } from './sparing-log.ts';

type WatchedAccountsOptions = Readonly<{
  feed: Feed;
  /** Subscriptions at most: what would be one more is refused. */
  subscriptionsMax: number;
  /** Pause before a subscription that failed is opened again. */
  retryMs: number;
  tell: (account: RawAccount) => void;
  log: Logger;
}>;

type Watched = {
  readonly subscription: Subscription;
  /** How many want it. */
  watches: number;
  opened: Promise<void>;
  end: (() => void) | null;
  isOver: boolean;
};

/** What one request has watched, for as long as it wants it. */
export type Watch = Readonly<{
  /** By key. */
  watched: ReadonlyMap<string, Watched>;
  /** Kept when nodes have heard of it. Never rejects. */
  opened: Promise<void>;
  /** To be called once. */
  end: () => void;
}>;

const how = { commitment: 'processed', encoding: 'base64' } as const;

/** By key. */
function subscriptionsOf({ addresses, owners }: NamedAccounts): Map<string, Subscription> {
  const subscriptions = new Map<string, Subscription>();
  for (const address of addresses) subscriptions.set(address, { kind: 'account', address, ...how });
  for (const program of owners) {
    subscriptions.set(`of ${program}`, { kind: 'program', program, filters: [], ...how });
  }
  return subscriptions;
}

/** Accounts that PubSub tells of, as writes of which only the last of a slot is known. */
export class WatchedAccounts {
  readonly #options: WatchedAccountsOptions;
  readonly #log: SparingLog;
  readonly #watched = new Map<string, Watched>();
  readonly #end = new AbortController();
  #version = 0n;

  constructor(options: WatchedAccountsOptions) {
    this.#options = options;
    this.#log = new SparingLog(options.log);
  }

  /**
   * Watches what a request names, besides what others do.
   * @param replaced - ends when this one is there: what it alone has watched is not counted.
   * @throws Failure FILTER_LIMIT when it names more than may be watched, OVERLOADED when it does together with others.
   */
  watch(names: NamedAccounts, replaced?: Watch): Watch {
    const wanted = subscriptionsOf(names);
    this.#checkRoom(wanted, replaced?.watched);
    const watched = new Map<string, Watched>();
    for (const [key, subscription] of wanted) {
      const one = this.#watched.get(key) ?? this.#begin(key, subscription);
      one.watches++;
      watched.set(key, one);
    }
    return {
      watched,
      opened: Promise.all([...watched.values()].map(({ opened }) => opened)).then(() => {}),
      end: () => {
        for (const [key, one] of watched) if (--one.watches === 0) this.#leave(key, one);
      },
    };
  }

  close(): void {
    this.#end.abort();
    for (const [key, watched] of this.#watched) this.#leave(key, watched);
  }

  #checkRoom(wanted: ReadonlyMap<string, Subscription>, replaced: Watch['watched'] = new Map()): void {
    const max = this.#options.subscriptionsMax;
    let watched = this.#watched.size;
    for (const key of wanted.keys()) if (!this.#watched.has(key)) watched++;
    for (const [key, one] of replaced) {
      if (one.watches === 1 && this.#watched.get(key) === one && !wanted.has(key)) watched--;
    }
    if (watched <= max) return;
    this.#log.warn(
      { wanted: wanted.size, watched, max },
      'more accounts are wanted than PubSub is asked for',
    );
    if (wanted.size > max) throw new Failure('FILTER_LIMIT', { facts: { of: 'accounts and owners', max } });
    throw new Failure('OVERLOADED', { facts: { of: 'accounts and owners', max } });
  }

  #begin(key: string, subscription: Subscription): Watched {
    const watched: Watched = {
      subscription,
      watches: 0,
      opened: Promise.resolve(),
      end: null,
      isOver: false,
    };
    this.#watched.set(key, watched);
    watched.opened = this.#open(watched);
    return watched;
  }

  #leave(key: string, watched: Watched): void {
    watched.isOver = true;
    watched.end?.();
    watched.end = null;
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
    } catch (error) {
      const reason = error instanceof Failure ? error.code : 'refused';
      this.#log.warn({ reason }, 'PubSub does not tell of an account that is wanted: it is asked again');
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

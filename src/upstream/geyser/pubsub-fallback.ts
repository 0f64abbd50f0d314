import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import type { Slot } from '../../solana/units.ts';
import type { FilterSet, GeyserSource } from '../../streams/geyser/geyser-source.ts';
import { AccountSubscriptions, namedAccounts, type Watch } from './account-subscriptions.ts';
import { ConfirmedBlockFollower, type ConfirmedBlockFollowerOptions } from './confirmed-block-follower.ts';
import { RateLimitedLogger } from './rate-limited-logger.ts';

type ActiveSources = Readonly<{ blocks: ConfirmedBlockFollower; accounts: AccountSubscriptions }>;

/** How long blocks are followed after the last filter set ended. */
const IDLE_MS = 60_000;
const UNNAMED = 'PubSub fallback emits only accounts named by address or owner';

/**
 * Geyser source for networks without a Geyser server: confirmed blocks, and accounts from PubSub. Limits:
 * nothing before a slot is confirmed; no entries and no dead slots; only the last write of an account per
 * slot, without its transaction, with a generated write version; only accounts named by address or owner.
 */
export class PubsubFallback implements GeyserSource {
  readonly #options: ConfirmedBlockFollowerOptions;
  readonly #log: RateLimitedLogger;
  readonly #watches = new WeakMap<FilterSet, Watch>();
  #active: ActiveSources | null = null;
  #idle: NodeJS.Timeout | null = null;
  #subscriptionCount = 0;
  #isClosed = false;

  constructor(options: ConfirmedBlockFollowerOptions) {
    this.#options = options;
    this.#log = new RateLimitedLogger(options.log);
  }

  /** @throws Failure FILTER_LIMIT, OVERLOADED when the request names too many accounts. */
  subscribe(request: SubscribeRequest, fromSlot: Slot | null, previous: FilterSet | null = null): FilterSet {
    if (this.#isClosed) return { ready: Promise.resolve(), end: () => {} };
    this.#subscriptionCount++;
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#active ??= this.#start();
    const replaced = previous === null ? undefined : this.#watches.get(previous);
    const watch = this.#watch(this.#active.accounts, request, replaced);
    let isEnded = false;
    const filterSet: FilterSet = {
      ready: this.#ready(this.#active.blocks, watch, fromSlot),
      end: () => {
        if (isEnded) return;
        isEnded = true;
        watch.end();
        this.#release();
      },
    };
    this.#watches.set(filterSet, watch);
    return filterSet;
  }

  close(): void {
    this.#isClosed = true;
    this.#stop();
  }

  #watch(accounts: AccountSubscriptions, request: SubscribeRequest, replaced: Watch | undefined): Watch {
    const named = namedAccounts(request);
    if (named.hasUnnamed) this.#log.warn({}, UNNAMED);
    try {
      return accounts.watch(named, replaced);
    } catch (error) {
      this.#release();
      throw error;
    }
  }

  async #ready(blocks: ConfirmedBlockFollower, { opened }: Watch, fromSlot: Slot | null): Promise<void> {
    const { promise: timeout, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, this.#options.limits.openTimeoutMs);
    await Promise.race([Promise.all([blocks.started, opened]), timeout]);
    clearTimeout(timer);
    if (fromSlot !== null) await blocks.replayFrom(fromSlot);
  }

  #start(): ActiveSources {
    const { feed, limits, log } = this.#options;
    const blocks = new ConfirmedBlockFollower(this.#options);
    const accounts = new AccountSubscriptions({
      feed,
      subscriptionsMax: limits.addressesMax,
      retryMs: limits.reconnectMs,
      emit: (account) => blocks.emitAccount(account),
      log,
    });
    return { blocks, accounts };
  }

  #release(): void {
    this.#subscriptionCount--;
    if (this.#subscriptionCount > 0) return;
    this.#idle = setTimeout(() => this.#stop(), IDLE_MS);
    this.#idle.unref();
  }

  #stop(): void {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#idle = null;
    this.#active?.blocks.close();
    this.#active?.accounts.close();
    this.#active = null;
  }
}

import { unlessAborted } from '../../base/concurrency/unless-aborted.ts';
import type { Logger } from '../../base/log.ts';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import type { Slot } from '../../solana/units.ts';
import type { Feed } from '../../streams/feed.ts';
import type { FilterSet, GeyserListener, GeyserSource } from '../../streams/geyser/geyser-source.ts';
import type { ChainReader } from '../feeds/chain-reader.ts';
import type { NodeConfig } from '../node.ts';
import { AccountSubscriptions, namedAccounts, type Watch } from './account-subscriptions.ts';
import { ConfirmedBlockFollower, type ConfirmedBlockFollowerOptions } from './confirmed-block-follower.ts';
import { hasGeyser } from './geyser-node.ts';
import { type GeyserSourceOptions, geyserSourceOptions } from './geyser-source-options.ts';
import { RateLimitedLogger } from './rate-limited-logger.ts';
import type { YellowstoneSource } from './yellowstone-source.ts';

type ActiveSources = Readonly<{ blocks: ConfirmedBlockFollower; accounts: AccountSubscriptions }>;

/** How long blocks are followed after the last filter set ends. */
const IDLE_MS = 60_000;
const UNNAMED = 'PubSub fallback emits only accounts named by address or owner';

/**
 * Emits confirmed blocks, and accounts from PubSub. Limitations: slots are emitted only once they are confirmed; entries
 * and dead slots are never emitted. Accounts are emitted only if the request names them by address or owner, and only
 * with the last write per slot, without its transaction and with a generated write version.
 */
class PubsubFallback implements GeyserSource {
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

  /** @throws Failure FILTER_LIMIT or OVERLOADED if the request names too many accounts. */
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
    const timeout = AbortSignal.timeout(this.#options.limits.openTimeoutMs);
    await unlessAborted(Promise.all([blocks.started, opened]), timeout).catch(() => {});
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

export type CreateGeyserSourceOptions = Readonly<{
  yellowstone: YellowstoneSource;
  reader: Pick<ChainReader, 'availableSlots' | 'slots' | 'eachBlock'>;
  feed: Feed;
  options?: Partial<GeyserSourceOptions>;
  log: Logger;
}>;

export type ClosableGeyserSource = GeyserSource &
  Readonly<{
    close(): void;
    /** False while the PubSub fallback is active. `setNodes` may change this. */
    isGeyser: boolean;
    /** Switching between Geyser and the PubSub fallback resets the listener and ends all filter sets. */
    setNodes(nodes: readonly NodeConfig[]): void;
  }>;

export function createGeyserSource(
  { yellowstone, reader, feed, options, log }: CreateGeyserSourceOptions,
  listener: GeyserListener,
): ClosableGeyserSource {
  const limits = { ...geyserSourceOptions, ...options };
  const openFallback = (): PubsubFallback | null =>
    yellowstone.hasServers ? null : new PubsubFallback({ feed, reader, listener, limits, log });
  yellowstone.addListener(listener);
  yellowstone.start();
  let fallback = openFallback();
  let isClosed = false;
  return {
    subscribe: (request, fromSlot, previous) =>
      fallback === null
        ? yellowstone.subscribe(request, fromSlot)
        : fallback.subscribe(request, fromSlot, previous),
    close() {
      isClosed = true;
      fallback?.close();
      yellowstone.close();
    },
    get isGeyser() {
      return fallback === null;
    },
    setNodes(nodes) {
      if (isClosed) return;
      const servers = nodes.filter(hasGeyser);
      const wasGeyser = fallback === null;
      if (servers.length > 0) fallback?.close();
      yellowstone.setNodes(servers);
      if (yellowstone.hasServers === wasGeyser) return;
      fallback = openFallback();
      log.warn(wasGeyser ? GEYSER_LOST : GEYSER_AVAILABLE);
    },
  };
}

const GEYSER_LOST = 'No node has Geyser; gRPC streams ended; falling back to PubSub and blocks';
const GEYSER_AVAILABLE = 'Geyser available; gRPC streams ended; switching from PubSub and blocks to Geyser';

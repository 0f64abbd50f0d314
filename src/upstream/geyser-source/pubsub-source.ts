import type { Slot } from '../../ledger/units.ts';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import type { GeyserSource, Wish } from '../../streams/geyser/geyser-source.ts';
import { FollowedBlocks, type FollowedBlocksOptions } from './followed-blocks.ts';
import { namedAccounts } from './named-accounts.ts';
import { SparingLog } from './sparing-log.ts';
import { type Watch, WatchedAccounts } from './watched-accounts.ts';

type Run = Readonly<{ blocks: FollowedBlocks; accounts: WatchedAccounts }>;

/** How long blocks are followed when nobody wants anything any more. */
const IDLE_MS = 60_000;
const UNNAMED =
  'a stream wants accounts that it does not name by address or owner: PubSub tells it only those that are named';

/**
 * Stands in where no node has Geyser, for as long as anybody wants anything: blocks as they are confirmed, and the
 * accounts that PubSub tells of. So nothing comes before its slot is confirmed; there are no entries, no slots that
 * die; of the writes of an account in a slot only the last, without the transaction that made it, with a count of
 * our own as its version; and all accounts there are cannot be had, only those of named addresses and owners.
 */
export class PubsubSource implements GeyserSource {
  readonly #options: FollowedBlocksOptions;
  readonly #log: SparingLog;
  readonly #watches = new WeakMap<Wish, Watch>();
  #run: Run | null = null;
  #idle: NodeJS.Timeout | null = null;
  #wishes = 0;
  #isClosed = false;

  constructor(options: FollowedBlocksOptions) {
    this.#options = options;
    this.#log = new SparingLog(options.log);
  }

  /** @throws Failure FILTER_LIMIT, OVERLOADED when it names more accounts than PubSub is asked for. */
  want(request: SubscribeRequest, fromSlot: Slot | null, before: Wish | null = null): Wish {
    if (this.#isClosed) return { ready: Promise.resolve(), end: () => {} };
    this.#wishes++;
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#run ??= this.#start();
    const replaced = before === null ? undefined : this.#watches.get(before);
    const watch = this.#watch(this.#run.accounts, request, replaced);
    let isOver = false;
    const wish: Wish = {
      ready: this.#ready(this.#run.blocks, watch, fromSlot),
      end: () => {
        if (isOver) return;
        isOver = true;
        watch.end();
        this.#left();
      },
    };
    this.#watches.set(wish, watch);
    return wish;
  }

  close(): void {
    this.#isClosed = true;
    this.#stop();
  }

  #watch(accounts: WatchedAccounts, request: SubscribeRequest, replaced: Watch | undefined): Watch {
    const named = namedAccounts(request);
    if (named.hasUnnamed) this.#log.warn({}, UNNAMED);
    try {
      return accounts.watch(named, replaced);
    } catch (refused) {
      this.#left();
      throw refused;
    }
  }

  async #ready(blocks: FollowedBlocks, { opened }: Watch, fromSlot: Slot | null): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, this.#options.limits.openTimeoutMs);
    await Promise.race([Promise.all([blocks.begun, opened]), late]);
    clearTimeout(timer);
    if (fromSlot !== null) await blocks.tellFrom(fromSlot);
  }

  #start(): Run {
    const { feed, limits, log } = this.#options;
    const blocks = new FollowedBlocks(this.#options);
    const accounts = new WatchedAccounts({
      feed,
      subscriptionsMax: limits.addressesMax,
      retryMs: limits.reconnectMs,
      tell: (account) => blocks.tellAccount(account),
      log,
    });
    return { blocks, accounts };
  }

  #left(): void {
    this.#wishes--;
    if (this.#wishes > 0) return;
    this.#idle = setTimeout(() => this.#stop(), IDLE_MS);
    this.#idle.unref();
  }

  #stop(): void {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#idle = null;
    this.#run?.blocks.close();
    this.#run?.accounts.close();
    this.#run = null;
  }
}

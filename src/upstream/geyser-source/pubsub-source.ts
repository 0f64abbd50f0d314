import type { Slot } from '../../ledger/units.ts';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import type { GeyserSource, Wish } from '../../streams/geyser/geyser-source.ts';
import { FollowedBlocks, type FollowedBlocksOptions } from './followed-blocks.ts';
import { WatchedAccounts } from './watched-accounts.ts';
import { WishUnion } from './wish-union.ts';

type Run = Readonly<{ blocks: FollowedBlocks; accounts: WatchedAccounts }>;

/** How long blocks are followed when nobody wants anything any more. */
const IDLE_MS = 60_000;

/**
 * Stands in where no node has Geyser, for as long as anybody wants anything: blocks as they are confirmed, and the
 * accounts that PubSub tells of. So nothing comes before its slot is confirmed; there are no entries, no slots that
 * die; of the writes of an account in a slot only the last, without the transaction that made it, with a count of
 * our own as its version; and all accounts there are cannot be had, only those of named addresses and owners.
 */
export class PubsubSource implements GeyserSource {
  readonly #options: FollowedBlocksOptions;
  readonly #union: WishUnion;
  #run: Run | null = null;
  #idle: NodeJS.Timeout | null = null;
  #wishes = 0;
  #isClosed = false;

  constructor(options: FollowedBlocksOptions) {
    this.#options = options;
    this.#union = new WishUnion(options.limits);
  }

  want(request: SubscribeRequest, fromSlot: Slot | null): Wish {
    const leave = this.#union.add(request);
    this.#wishes++;
    if (this.#idle !== null) clearTimeout(this.#idle);
    let isOver = false;
    return {
      ready: this.#begin(fromSlot),
      end: () => {
        if (isOver) return;
        isOver = true;
        leave();
        this.#left();
      },
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#stop();
  }

  async #begin(fromSlot: Slot | null): Promise<void> {
    if (this.#isClosed) return;
    this.#run ??= this.#start();
    const { blocks, accounts } = this.#run;
    const { openTimeoutMs } = this.#options.limits;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, openTimeoutMs);
    await Promise.race([Promise.all([blocks.begun, this.#watch(accounts)]), late]);
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

  #watch(accounts: WatchedAccounts): Promise<void> {
    return accounts.want(this.#union.request('exact').accounts?.values() ?? []);
  }

  #left(): void {
    this.#wishes--;
    if (this.#run !== null) void this.#watch(this.#run.accounts);
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

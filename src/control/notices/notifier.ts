import type { QuotaLedger } from '../../gateway/limits/quota.ts';
import type { Store } from '../database/open.ts';
import type { NoticeDeliveryTable } from '../database/tables/notices.ts';
import { FailureState } from '../failure-state.ts';
import type { Peppers } from '../pepper.ts';
import { deliverNotice, type NoticeChannels } from './deliver-notice.ts';
import { claimDue, pruneNotices, recordAttempt } from './deliveries.ts';
import type { Notice } from './notice.ts';
import type { NoticeLimits } from './notice-limits.ts';
import { QuotaWatch } from './quota-watch.ts';
import { findTarget, resealTargets } from './targets.ts';

export type NotifierOptions = Readonly<{
  store: Store;
  peppers: Peppers;
  ledger: QuotaLedger;
  channels: NoticeChannels;
  limits: NoticeLimits;
  /** Unix milliseconds. */
  now?: () => number;
  /** Hears when the store begins to fail, and with null when it works again. */
  onState?: (error: unknown | null) => void;
}>;

/** Beyond its time, what a try may take until another gateway may try too. */
const LEASE_MARGIN_MS = 20_000;
const PRUNE_INTERVAL_MS = 3_600_000;
const DAY_MS = 86_400_000;
const RETRY_FACTOR = 4;

/** Tells customers: sees when quotas run out, hands notices over, and tries again what could not be. */
export class Notifier {
  readonly #options: NotifierOptions;
  readonly #now: () => number;
  readonly #watch: QuotaWatch;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #stopped = new AbortController();
  #round: Promise<void> | null = null;
  #delivery: Promise<void> | null = null;
  readonly #state: FailureState;
  #prunedAt = Number.NEGATIVE_INFINITY;

  constructor(options: NotifierOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#state = new FailureState(options.onState);
    this.#watch = new QuotaWatch(options.store, options.ledger);
  }

  /** Seals webhooks under the pepper of today, and begins. @throws the driver's error. */
  async start(): Promise<void> {
    const { store, peppers, channels, limits } = this.#options;
    await resealTargets(store.db, channels.seal, peppers.current);
    this.#timers.push(setInterval(() => void this.checkQuotas(), limits.watchIntervalMs));
    this.#timers.push(setInterval(() => void this.deliver(), limits.pollIntervalMs));
  }

  /** Looks at the quotas; what is to be told is handed over at once. Never rejects. */
  checkQuotas(): Promise<void> {
    this.#round ??= this.#state
      .guard(async () => {
        if ((await this.#watch.checkQuotas(this.#now())) > 0) void this.deliver();
        if (performance.now() - this.#prunedAt < PRUNE_INTERVAL_MS) return;
        this.#prunedAt = performance.now();
        await pruneNotices(this.#options.store, this.#now() - this.#options.limits.retentionDays * DAY_MS);
      })
      .finally(() => {
        this.#round = null;
      });
    return this.#round;
  }

  /** Hands over what is due. Never rejects. */
  deliver(): Promise<void> {
    this.#delivery ??= this.#state
      .guard(() => this.#deliver())
      .finally(() => {
        this.#delivery = null;
      });
    return this.#delivery;
  }

  /** Hands over no more, and waits until what came of the last tries is written. */
  async stop(): Promise<void> {
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
    this.#stopped.abort();
    await this.#round;
    await this.#delivery;
  }

  async #deliver(): Promise<void> {
    const { store, limits } = this.#options;
    const { inFlightMax, timeoutMs } = limits;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const due = await claimDue(store.db, inFlightMax, timeoutMs + LEASE_MARGIN_MS, this.#now());
      await Promise.all(due.map((delivery) => this.#attempt(delivery)));
      if (due.length < inFlightMax) return;
    }
  }

  async #attempt(delivery: NoticeDeliveryTable): Promise<void> {
    const { store, channels, limits } = this.#options;
    const target = await findTarget(store.db, delivery.customer_id, delivery.target_id);
    if (target === undefined) return;
    const signal = AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(limits.timeoutMs)]);
    const notice = JSON.parse(delivery.notice) as Notice;
    const deliveryContext = { id: delivery.id, nowMs: this.#now(), signal };
    const { problem, isFinal } = await deliverNotice(channels, target, notice, deliveryContext);
    const isLast = isFinal || delivery.tries >= limits.triesMax;
    const retryAt = problem === null || isLast ? null : this.#now() + this.#retryDelayMs(delivery.tries);
    await recordAttempt(store, delivery, { problem, retryAt }, this.#now());
  }

  #retryDelayMs(tries: number): number {
    const { retryMs, retryMaxMs } = this.#options.limits;
    return Math.min(retryMaxMs, retryMs * RETRY_FACTOR ** (tries - 1));
  }
}

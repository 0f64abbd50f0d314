import type { Selectable } from 'kysely';
import type { KeyId, KeyRecord, KeyRules, KeyStatus, PlanLimits } from '../../gateway/auth/key-record.ts';
import type { Network } from '../../protocol/call.ts';
import type { StoredCustomerState } from '../accounts/roles.ts';
import { pagesOf } from '../database/rows.ts';
import type { KeyTable } from '../database/schema.ts';
import type { Store, StoreWatch } from '../database/store.ts';
import { StoreHangsError } from '../database/store-unavailable.ts';
import { type PlanLimitRow, planLimitColumns, planLimitsOf } from '../plans.ts';
import { notExpired } from './key-quota.ts';
import { listOf } from './key-register.ts';

const limitColumns = planLimitColumns.map((column) => `plan.${column}` as const);

type Row = Selectable<KeyTable> &
  PlanLimitRow & {
    plan_version: number;
    customer_version: number;
    customer_state: StoredCustomerState;
  };

/** Returns a key's own rate, capped by its plan, or else the plan's rate; 0 means no limit. */
function rateOf(own: number | null, plan: number): number {
  if (own === null) return plan;
  return plan === 0 ? own : Math.min(own, plan);
}

const limitsOf = (row: Row): PlanLimits => ({
  ...planLimitsOf(row),
  rpcPerSecond: rateOf(row.rate_per_second, row.rpc_per_second),
  rpcBurst: Math.min(row.rate_burst ?? row.rpc_burst, row.rpc_burst),
});

const rulesOf = (row: Row): KeyRules => ({
  networks: listOf(row.networks) as readonly Network[] | null,
  cidrs: listOf(row.cidrs),
  origins: listOf(row.origins),
  methods: listOf(row.methods),
});

function stateOf({ state, customer_state }: Row): KeyStatus {
  return customer_state === 'active' || state === 'revoked' ? state : 'disabled';
}

/** Matches no key, so that nothing more is recorded about a deleted customer. */
const NO_DIGEST = Buffer.alloc(32);

function recordOf(row: Row): KeyRecord {
  return {
    id: row.id as KeyId,
    product: row.product,
    familyId: row.family_id,
    name: row.name,
    digest: row.customer_state === 'deleted' ? NO_DIGEST : Buffer.from(row.digest, 'hex'),
    pepperVersion: row.pepper_version,
    status: stateOf(row),
    expiresAt: row.expires_at,
    limits: limitsOf(row),
    customerId: row.customer_id,
    planId: row.plan_id,
    rules: rulesOf(row),
    addressPerSecond: row.address_per_second,
    logsBodies: row.logs_bodies !== 0,
    monotonicReads: row.never_back !== 0,
    version: Math.max(row.version, row.plan_version, row.customer_version),
  };
}

type Source = Pick<Store, 'db'>;

function selectRecords(store: Source) {
  return store.db
    .selectFrom('api_key')
    .innerJoin('plan', 'plan.id', 'api_key.plan_id')
    .innerJoin('customer', 'customer.id', 'api_key.customer_id')
    .selectAll('api_key')
    .select([
      ...limitColumns,
      'plan.version as plan_version',
      'customer.version as customer_version',
      'customer.state as customer_state',
    ]);
}

export async function newestVersion(store: Source): Promise<number> {
  const row = await store.db.selectFrom('change_counter').select('version').executeTakeFirstOrThrow();
  return row.version;
}

async function* recordPages(
  pageRows: number,
  read: (last: Row | null) => Promise<Row[]>,
): AsyncGenerator<KeyRecord[]> {
  for await (const rows of pagesOf(pageRows, read)) yield rows.map(recordOf);
}

/**
 * Keys that changed after `version`, oldest change first.
 * @param notExpiredAt - Unix milliseconds, set on the first load to leave out revoked and long-expired keys.
 */
export const keysChangedAfter = (
  store: Source,
  version: number,
  pageRows: number,
  notExpiredAt: number | null = null,
): AsyncGenerator<KeyRecord[]> =>
  recordPages(pageRows, (last) =>
    selectRecords(store)
      .where('api_key.version', '>', last?.version ?? version)
      .$if(notExpiredAt !== null, (query) => query.where(notExpired(notExpiredAt ?? 0)))
      .orderBy('api_key.version')
      .limit(pageRows)
      .execute(),
  );

/**
 * Keys whose plan or customer changed after `version`, except revoked and long-expired keys, unless their customer was
 * deleted: gateways remember keys revoked before, and must no longer record their use.
 */
export const keysOfPlansChangedAfter = (
  store: Source,
  version: number,
  pageRows: number,
): AsyncGenerator<KeyRecord[]> =>
  recordPages(pageRows, (last) =>
    selectRecords(store)
      .where(({ or, eb }) => or([eb('plan.version', '>', version), eb('customer.version', '>', version)]))
      .where(({ or, and, eb }) =>
        or([
          notExpired(Date.now()),
          and([eb('customer.state', '=', 'deleted'), eb('customer.version', '>', version)]),
        ]),
      )
      .where('api_key.id', '>', last?.id ?? '')
      .orderBy('api_key.id')
      .limit(pageRows)
      .execute(),
  );

/** Implemented by gateway/auth/key-authenticator.ts. */
interface KeySink {
  apply(records: readonly KeyRecord[]): unknown;
  /** While false, an unknown id may belong to a new key that could not be loaded. */
  setStoreReachable(reachable: boolean): void;
}

export type KeyFeedOptions = Readonly<{
  store: Store;
  sink: KeySink;
  pollIntervalMs: number;
  /** If a poll gets no response within this time, the store counts as unreachable. */
  unavailableAfterMs: number;
  pageRows: number;
  /** Called on each state change. */
  onStoreState: (state: 'available' | 'unavailable', error?: unknown) => void;
}>;

/** The poll interval is short enough for a key change to take effect within a second. */
export const keyFeedOptions = {
  pollIntervalMs: 250,
  unavailableAfterMs: 3_000,
  pageRows: 1_000,
  onStoreState: () => undefined,
};

/** The deadline for reading a page is at most this multiple of the usual deadline. */
const TIMEOUT_FACTOR_MAX = 8;

/** Loads the keys into memory, then polls for changes. If polls fail, the loaded keys stay in use. */
export class KeyFeed {
  readonly #options: KeyFeedOptions;
  readonly #watch: StoreWatch | null;
  #version = 0;
  #hasApplied = false;
  #state: 'unknown' | 'available' | 'unavailable' = 'unknown';
  #polling: Promise<void> | null = null;
  #pollStartedAt = 0;
  #mustPollAgain = false;
  #timeoutFactor = 1;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(options: Partial<KeyFeedOptions> & Pick<KeyFeedOptions, 'store' | 'sink'>) {
    this.#options = { ...keyFeedOptions, ...options };
    this.#watch = options.store.watch?.(() => this.#wake()) ?? null;
  }

  /** Resolves after the first attempt, successful or not. */
  async start(): Promise<void> {
    const first = this.#poll();
    this.#timer = setInterval(() => this.#tick(), this.#options.pollIntervalMs);
    await first;
  }

  /** Polls now. Resolves once changes committed before the call have been applied, or the poll has failed. */
  async refresh(): Promise<void> {
    await this.#polling;
    await (this.#polling ?? this.#poll());
  }

  #wake(): void {
    if (this.#stopped) return;
    if (this.#polling === null) void this.#poll();
    else this.#mustPollAgain = true;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#watch?.close();
    await this.#polling;
  }

  #tick(): void {
    if (this.#polling === null) void this.#poll();
    else if (this.#pollElapsedMs() > this.#options.unavailableAfterMs) this.#report('unavailable');
  }

  #pollElapsedMs(): number {
    return performance.now() - this.#pollStartedAt;
  }

  #poll(): Promise<void> {
    this.#pollStartedAt = performance.now();
    this.#polling = this.#pollUntilCurrent().finally(() => {
      this.#polling = null;
    });
    return this.#polling;
  }

  async #pollUntilCurrent(): Promise<void> {
    do {
      this.#mustPollAgain = false;
      try {
        await this.#readChanges();
        this.#report('available');
      } catch (error) {
        // The unresponsive connection has been closed by now; a new connection may work.
        this.#mustPollAgain =
          error instanceof StoreHangsError && this.#pollElapsedMs() < this.#options.unavailableAfterMs;
        if (this.#mustPollAgain) continue;
        this.#report('unavailable', error);
        return;
      }
    } while (this.#mustPollAgain && !this.#stopped);
  }

  async #readChanges(): Promise<void> {
    this.#options.store.checkNotReplaced();
    // Uses a connection outside the pool: a full pool must not delay a revocation.
    const source = this.#watch ?? this.#options.store;
    const readNewest = (): Promise<number> => newestVersion(source);
    const newest = await (this.#watch?.withDeadline(readNewest) ?? readNewest());
    if (newest !== this.#version) await this.#readPages(source, newest);
    this.#timeoutFactor = 1;
  }

  async #readPages(source: Source, newest: number): Promise<void> {
    const since = this.#version;
    const { pageRows } = this.#options;
    await this.#applyPages(keysChangedAfter(source, since, pageRows, this.#hasApplied ? null : Date.now()));
    if (since > 0) {
      // A plan may have many keys, and a revocation must not wait for all of them.
      const applyNewer = () => this.#applyPages(keysChangedAfter(source, newest, pageRows));
      await this.#applyPages(keysOfPlansChangedAfter(source, since, pageRows), applyNewer);
    }
    this.#version = newest;
  }

  /**
   * Gives a slow server a longer timeout with each attempt.
   * @param afterPage - called after each page.
   */
  async #applyPages(
    pages: AsyncGenerator<KeyRecord[]>,
    afterPage: () => Promise<void> = async () => undefined,
  ): Promise<void> {
    const next = () => pages.next();
    try {
      for (;;) {
        const { done, value } = await (this.#watch?.withDeadline(next, this.#timeoutFactor) ?? next());
        if (done === true) return;
        this.#hasApplied = true;
        this.#options.sink.apply(value);
        await afterPage();
      }
    } catch (error) {
      if (error instanceof StoreHangsError)
        this.#timeoutFactor = Math.min(2 * this.#timeoutFactor, TIMEOUT_FACTOR_MAX);
      throw error;
    }
  }

  #report(state: 'available' | 'unavailable', error?: unknown): void {
    if (this.#stopped || state === this.#state) return;
    this.#state = state;
    this.#options.sink.setStoreReachable(state === 'available');
    this.#options.onStoreState(state, error);
  }
}

import type { Logger } from '../../base/log.ts';
import type { Store } from '../database/open.ts';
import { type AuditEntry, nextVersions, transact, writeAudits } from '../database/transaction.ts';
import type { RequestMetadata } from './request-metadata.ts';

/** How many lines the audit log gets of what strangers try. */
export type FailedSignInLogLimits = Readonly<{
  /** Between two writings, in milliseconds. */
  intervalMs: number;
  /** Accounts that are told apart in one writing; the others are counted together with those that nobody has. */
  accountsMax: number;
}>;

/** What holds unless something else is said. */
export const failedSignInLogLimits: FailedSignInLogLimits = { intervalMs: 60_000, accountsMax: 100 };

type FailedSignIn = { path: string; facts: RequestMetadata; at: number; count: number };

export type FailedSignInLogOptions = Readonly<{ store: Store; now: () => number; log: Logger }>;

/**
 * Tells the audit log of refused tries to sign in: of each account one line a minute, with how many there were, and one
 * for all that name no account there is. Nothing is ever deleted there, so strangers must not be able to fill it. The
 * first is written at once; no answer waits for it, or its time would tell which accounts there are.
 */
export class FailedSignInLog {
  readonly #parts: FailedSignInLogOptions;
  readonly #limits: FailedSignInLogLimits;
  /** By account. */
  #byAccount = new Map<string, FailedSignIn>();
  #others: FailedSignIn | null = null;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: FailedSignInLogOptions, limits: Partial<FailedSignInLogLimits> = {}) {
    this.#parts = parts;
    this.#limits = { ...failedSignInLogLimits, ...limits };
  }

  /** @param account - whose password or code was tried, as the request says; null: it names none. */
  record(path: string, account: string | null, facts: RequestMetadata): void {
    const one = { path, facts, at: this.#parts.now(), count: 1 };
    const existing = account === null ? undefined : this.#byAccount.get(account);
    if (existing !== undefined) existing.count += 1;
    else if (account !== null && this.#byAccount.size < this.#limits.accountsMax)
      this.#byAccount.set(account, one);
    else this.#others = mergeCounts(this.#others, one);
    if (this.#timer === null) this.#write();
  }

  /** Writes what is left. Never rejects. */
  async stop(): Promise<void> {
    this.#stopTimer();
    this.#write();
    this.#stopTimer();
    await this.#writing;
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Writes what there is, and looks again after a while; without anything, not before the next one. */
  #write(): void {
    this.#timer = null;
    if (this.#byAccount.size === 0 && this.#others === null) return;
    this.#timer = setTimeout(() => this.#write(), this.#limits.intervalMs).unref();
    const [byAccount, others] = [this.#byAccount, this.#others];
    this.#byAccount = new Map();
    this.#others = null;
    this.#writing = this.#writing
      .then(() => this.#writeLines(byAccount, others))
      .catch((err) => {
        const count = sumOf([...byAccount.values(), ...(others === null ? [] : [others])]);
        this.#parts.log.warn({ err, count }, 'refused tries to sign in are missing from the audit log');
      });
  }

  async #writeLines(
    byAccount: ReadonlyMap<string, FailedSignIn>,
    others: FailedSignIn | null,
  ): Promise<void> {
    const { store } = this.#parts;
    const names = [...byAccount.keys()];
    const rows =
      names.length === 0
        ? []
        : await store.db.selectFrom('auth_user').select('email').where('email', 'in', names).execute();
    const accounts = new Set(rows.map(({ email }) => email));
    const unknown = names
      .filter((name) => !accounts.has(name))
      .map((name) => byAccount.get(name) as FailedSignIn);
    const rest = unknown.reduce(mergeCounts, others);
    const entries = [...accounts].map((account) => entryOf(byAccount.get(account) as FailedSignIn, account));
    if (rest !== null) entries.push(entryOf(rest, null));
    await transact(store, async (trx) => {
      await writeAudits(trx, await nextVersions(trx, entries.length), entries);
    });
  }
}

const mergeCounts = (sum: FailedSignIn | null, one: FailedSignIn): FailedSignIn =>
  sum === null ? one : { ...sum, count: sum.count + one.count };

const sumOf = (all: readonly FailedSignIn[]): number => all.reduce((sum, { count }) => sum + count, 0);

/** With the path and the place of the first. */
function entryOf({ path, facts, at, count }: FailedSignIn, account: string | null): AuditEntry {
  const detail = { path, ...(account !== null && { account }), count };
  return { at, actor: 'nobody', action: 'session.refused', keyId: null, detail, ...facts };
}

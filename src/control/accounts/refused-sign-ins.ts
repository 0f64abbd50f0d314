import type { Logger } from '../../base/log.ts';
import { type AuditEntry, inQuietChange, nextVersions, writeAudits } from '../database/change.ts';
import type { Store } from '../database/open.ts';
import type { RequestFacts } from './request-facts.ts';

/** How many lines the audit log gets of what strangers try. */
export type RefusedSignInLimits = Readonly<{
  /** Between two writings, in milliseconds. */
  intervalMs: number;
  /** Accounts that are told apart in one writing; the others are counted together with those that nobody has. */
  accountsMax: number;
}>;

/** What holds unless something else is said. */
export const refusedSignInLimits: RefusedSignInLimits = { intervalMs: 60_000, accountsMax: 100 };

type Refused = { path: string; facts: RequestFacts; at: number; count: number };

export type RefusedSignInParts = Readonly<{ store: Store; now: () => number; log: Logger }>;

/**
 * Tells the audit log of refused tries to sign in: of each account one line a minute, with how many there were, and one
 * for all that name no account there is. Nothing is ever deleted there, so strangers must not be able to fill it. The
 * first is written at once; no answer waits for it, or its time would tell which accounts there are.
 */
export class RefusedSignIns {
  readonly #parts: RefusedSignInParts;
  readonly #limits: RefusedSignInLimits;
  /** By account. */
  #refused = new Map<string, Refused>();
  #others: Refused | null = null;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: RefusedSignInParts, limits: Partial<RefusedSignInLimits> = {}) {
    this.#parts = parts;
    this.#limits = { ...refusedSignInLimits, ...limits };
  }

  /** @param account - whose password or code was tried, as the request says; null: it names none. */
  note(path: string, account: string | null, facts: RequestFacts): void {
    const one = { path, facts, at: this.#parts.now(), count: 1 };
    const known = account === null ? undefined : this.#refused.get(account);
    if (known !== undefined) known.count += 1;
    else if (account !== null && this.#refused.size < this.#limits.accountsMax)
      this.#refused.set(account, one);
    else this.#others = added(this.#others, one);
    if (this.#timer === null) this.#write();
  }

  /** Writes what is left. Never rejects. */
  async stop(): Promise<void> {
    this.#endTimer();
    this.#write();
    this.#endTimer();
    await this.#writing;
  }

  #endTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Writes what there is, and looks again after a while; without anything, not before the next one. */
  #write(): void {
    this.#timer = null;
    if (this.#refused.size === 0 && this.#others === null) return;
    this.#timer = setTimeout(() => this.#write(), this.#limits.intervalMs).unref();
    const [refused, others] = [this.#refused, this.#others];
    this.#refused = new Map();
    this.#others = null;
    this.#writing = this.#writing
      .then(() => this.#writeLines(refused, others))
      .catch((err) => {
        const count = sumOf([...refused.values(), ...(others === null ? [] : [others])]);
        this.#parts.log.warn({ err, count }, 'refused tries to sign in are missing from the audit log');
      });
  }

  async #writeLines(refused: ReadonlyMap<string, Refused>, others: Refused | null): Promise<void> {
    const { store } = this.#parts;
    const names = [...refused.keys()];
    const rows =
      names.length === 0
        ? []
        : await store.db.selectFrom('auth_user').select('email').where('email', 'in', names).execute();
    const accounts = new Set(rows.map(({ email }) => email));
    const unknown = names.filter((name) => !accounts.has(name)).map((name) => refused.get(name) as Refused);
    const rest = unknown.reduce(added, others);
    const entries = [...accounts].map((account) => entryOf(refused.get(account) as Refused, account));
    if (rest !== null) entries.push(entryOf(rest, null));
    await inQuietChange(store, async (trx) => {
      await writeAudits(trx, await nextVersions(trx, entries.length), entries);
    });
  }
}

const added = (sum: Refused | null, one: Refused): Refused =>
  sum === null ? one : { ...sum, count: sum.count + one.count };

const sumOf = (all: readonly Refused[]): number => all.reduce((sum, { count }) => sum + count, 0);

/** With the path and the place of the first. */
function entryOf({ path, facts, at, count }: Refused, account: string | null): AuditEntry {
  const detail = { path, ...(account !== null && { account }), count };
  return { at, actor: 'nobody', action: 'session.refused', keyId: null, detail, ...facts };
}

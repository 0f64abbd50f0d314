import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Store } from '../../src/control/database/open.ts';

/** What a gateway said was done: what may never be lost. */
type Made = { keys: string[]; emails: string[] };

const none = (): Made => ({ keys: [], emails: [] });

/** Keys and accounts that are made by the API of a gateway while it is killed, and those that it acknowledged. */
export class Changes {
  readonly #token: string;
  /** Since the last look at the store. */
  #made = none();
  /** All that were found in it. */
  readonly #found = { keys: 0, emails: 0 };
  #ended = false;
  #running: Promise<unknown> = Promise.resolve();
  #first = Promise.withResolvers<void>();

  /** @param token - of the operator's. */
  constructor(token: string) {
    this.#token = token;
  }

  get keys(): number {
    return this.#found.keys;
  }

  get accounts(): number {
    return this.#found.emails;
  }

  /** Kept when a key and an account were acknowledged since `begin`. */
  get first(): Promise<void> {
    return this.#first.promise;
  }

  /** Makes keys and accounts, one of each at a time, until `end`. */
  start(url: string): void {
    this.#ended = false;
    this.#first = Promise.withResolvers();
    this.#running = Promise.all([this.#makeKeys(url), this.#signUp(url)]);
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#running;
  }

  /** @returns what of it is not in the store, in words. */
  async lost({ db }: Store): Promise<string[]> {
    const { keys, emails } = this.#made;
    this.#made = none();
    const actors = emails.map((email) => `user:${email}`);
    const [rows, users, accounts, keyAudit, userAudit] = await Promise.all([
      db
        .selectFrom('api_key')
        .select('id')
        .where('id', 'in', ['', ...keys])
        .execute(),
      db
        .selectFrom('auth_user')
        .select('email')
        .where('email', 'in', ['', ...emails])
        .execute(),
      db
        .selectFrom('auth_account')
        .innerJoin('auth_user', 'auth_user.id', 'auth_account.userId')
        .select('auth_user.email')
        .where('auth_user.email', 'in', ['', ...emails])
        .execute(),
      db
        .selectFrom('audit')
        .select('key_id')
        .where('action', '=', 'key.create')
        .where('key_id', 'in', ['', ...keys])
        .execute(),
      db
        .selectFrom('audit')
        .select('actor')
        .where('action', '=', 'user.create')
        .where('actor', 'in', ['', ...actors])
        .execute(),
    ]);
    this.#found.keys += rows.length;
    this.#found.emails += users.length;
    return [
      ...missing('key', keys, new Set(rows.map(({ id }) => id))),
      ...missing('user', emails, new Set(users.map(({ email }) => email))),
      ...missing('way in of', emails, new Set(accounts.map(({ email }) => email))),
      ...missing('audit line of key', keys, new Set(keyAudit.map(({ key_id }) => key_id))),
      ...missing('audit line of', actors, new Set(userAudit.map(({ actor }) => actor))),
    ];
  }

  async #makeKeys(url: string): Promise<void> {
    while (!this.#ended) {
      const requested = { product: 'rpc', name: 'made until killed' };
      const headers = { authorization: `Bearer ${this.#token}` };
      const made = await post<{ key: { id: string } }>(
        `${url}/api/v1/customers/house/keys`,
        requested,
        headers,
      );
      if (made === null) await delay(50);
      else this.#acknowledge('keys', made.key.id);
    }
  }

  async #signUp(url: string): Promise<void> {
    while (!this.#ended) {
      const email = `${randomUUID()}@example.com`;
      const requested = { name: 'Somebody', email, password: 'made until it is killed' };
      const made = await post(`${url}/api/auth/sign-up/email`, requested, { origin: url, 'x-solway': '1' });
      if (made === null) await delay(50);
      else this.#acknowledge('emails', email);
    }
  }

  #acknowledge(what: keyof Made, one: string): void {
    this.#made[what].push(one);
    if (this.#made.keys.length > 0 && this.#made.emails.length > 0) this.#first.resolve();
  }
}

const missing = (what: string, wanted: readonly string[], found: ReadonlySet<string | null>): string[] =>
  wanted.filter((one) => !found.has(one)).map((one) => `${what} ${one} was acknowledged and is lost`);

/** @returns the answer; null where it is none of success, or none came. */
async function post<Result>(
  url: string,
  body: object,
  headers: Record<string, string>,
): Promise<Result | null> {
  const sent = { 'content-type': 'application/json', ...headers };
  try {
    const answer = await fetch(url, { method: 'POST', headers: sent, body: JSON.stringify(body) });
    const text = await answer.text();
    return answer.ok ? (JSON.parse(text) as Result) : null;
  } catch {
    return null;
  }
}

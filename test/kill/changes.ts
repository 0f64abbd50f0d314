import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Store } from '../../src/control/database/open.ts';

/** Keys and accounts that are made by the API of a gateway while it is killed, and those that it acknowledged. */
export class Changes {
  readonly #headers: Record<string, string>;
  /** Acknowledged since the last look at the store. */
  #keys: string[] = [];
  #emails: string[] = [];
  /** All that were found in it. */
  found = { keys: 0, accounts: 0 };
  #ended = false;
  #running: Promise<unknown> = Promise.resolve();
  #first = Promise.withResolvers<void>();

  /** @param token - of the operator's. */
  constructor(token: string) {
    this.#headers = { authorization: `Bearer ${token}` };
  }

  /** Resolves when a key and an account were acknowledged since `start`. */
  get first(): Promise<void> {
    return this.#first.promise;
  }

  start(url: string): void {
    this.#ended = false;
    this.#first = Promise.withResolvers();
    const makeKey = async (): Promise<boolean> => {
      const requested = { product: 'rpc', name: 'made until killed' };
      const made = await post(`${url}/api/v1/customers/house/keys`, requested, this.#headers);
      if (made !== null) this.#keys.push((made as { key: { id: string } }).key.id);
      return made !== null;
    };
    const signUp = async (): Promise<boolean> => {
      const email = `${randomUUID()}@example.com`;
      const requested = { name: 'Somebody', email, password: 'made until it is killed' };
      const headers = { origin: url, 'x-solway': '1' };
      const made = await post(`${url}/api/auth/sign-up/email`, requested, headers);
      if (made !== null) this.#emails.push(email);
      return made !== null;
    };
    const repeat = async (make: () => Promise<boolean>): Promise<void> => {
      while (!this.#ended) {
        if (!(await make())) await delay(50);
        else if (this.#keys.length > 0 && this.#emails.length > 0) this.#first.resolve();
      }
    };
    this.#running = Promise.all([repeat(makeKey), repeat(signUp)]);
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#running;
  }

  /** @returns what of it is not in the store, as text. */
  async lost({ db }: Store): Promise<string[]> {
    const [keys, emails] = [this.#keys, this.#emails];
    [this.#keys, this.#emails] = [[], []];
    const lost: string[] = [];
    /** Looks for values in a column. @returns how many there are. */
    const look = async (
      what: string,
      table: string,
      column: string,
      wanted: readonly string[],
      action?: string,
    ): Promise<number> => {
      const [from, of, values] = [sql.table(table), sql.ref(column), sql.join(['', ...wanted])];
      const also = action === undefined ? sql`` : sql`AND action = ${action}`;
      const query = sql<{
        value: string;
      }>`SELECT ${of} AS value FROM ${from} WHERE ${of} IN (${values}) ${also}`;
      const found = new Set((await query.execute(db)).rows.map(({ value }) => value));
      const missing = wanted.filter((one) => !found.has(one));
      lost.push(...missing.map((one) => `${what} ${one} was acknowledged and is lost`));
      return found.size;
    };
    const actors = emails.map((email) => `user:${email}`);
    this.found.keys += await look('key', 'api_key', 'id', keys);
    this.found.accounts += await look('user', 'auth_user', 'email', emails);
    await look('audit entry of key', 'audit', 'key_id', keys, 'key.create');
    await look('audit entry of', 'audit', 'actor', actors, 'user.create');
    const users = await db
      .selectFrom('auth_user')
      .select('id')
      .where('email', 'in', ['', ...emails])
      .execute();
    const ids = users.map(({ id }) => id);
    await look('password of user', 'auth_account', 'userId', ids);
    return lost;
  }
}

/** @returns the response; null where it is no success, or none came. */
async function post(url: string, body: object, headers: Record<string, string>): Promise<unknown> {
  const sent = { 'content-type': 'application/json', ...headers };
  try {
    const answer = await fetch(url, { method: 'POST', headers: sent, body: JSON.stringify(body) });
    const text = await answer.text();
    return answer.ok ? JSON.parse(text) : null;
  } catch {
    return null;
  }
}

import { ApiError } from '../api/api-error.ts';
import { type ClickHouse, isUnreachable } from './client.ts';

/** Creates tables before their first use. */
export class ClickHouseTables {
  readonly #server: ClickHouse;
  readonly #statements: readonly string[];
  #exist = false;

  /** @param statements - each creates a table unless it exists. */
  constructor(server: ClickHouse, statements: readonly string[]) {
    this.#server = server;
    this.#statements = statements;
  }

  /** Creates the tables before the first work, and again after any error: someone may have dropped one. */
  async use<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      if (!this.#exist) for (const statement of this.#statements) await this.#server.run(statement);
      this.#exist = true;
      return await work();
    } catch (error) {
      this.#exist = false;
      throw error;
    }
  }

  /** @throws ApiError 503 if the server is unreachable. */
  async read<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await this.use(work);
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      throw new ApiError(503, 'STORE_AWAY', 'ClickHouse is unreachable. Try again soon.', { retryAfter: 5 });
    }
  }

  /** Drops the partitions of a table, numbered by day, before a day. */
  async dropDays(table: string, before: number): Promise<void> {
    const { rows } = await this.#server.query<{ partition: string }>(
      `select distinct partition from system.parts
        where active and database = currentDatabase() and table = '${table}'`,
    );
    for (const { partition } of rows) {
      // Several gateways may drop the same partition.
      if (Number(partition) < before)
        await this.#server.run(`alter table ${table} drop partition ${Number(partition)}`);
    }
  }
}

import Database from 'better-sqlite3';
import { type Address, addressBytes, addressFromBytes } from '../../../../src/solana/address.ts';

const schema = `
  CREATE TABLE IF NOT EXISTS address (address BLOB PRIMARY KEY, slot INTEGER NOT NULL) WITHOUT ROWID;
`;

/**
 * Addresses for which the ledger no longer reads from the forked cluster, with the slot that was open when this was
 * decided. The accounts themselves are in the log and the snapshots, as all others; an address without account does not
 * exist, on the cluster or any more.
 */
export class ForkIndex {
  readonly #db: Database.Database;
  readonly #statements: ReturnType<typeof prepare>;
  #size: number;

  constructor(path: string) {
    this.#db = new Database(path);
    this.#db.pragma('journal_mode = WAL');
    this.#db.pragma('synchronous = NORMAL');
    this.#db.exec(schema);
    this.#statements = prepare(this.#db);
    this.#size = (this.#statements.count.get() as { count: number }).count;
  }

  get size(): number {
    return this.#size;
  }

  has(address: Address): boolean {
    return this.#statements.find.get(addressBytes(address)) !== undefined;
  }

  /** Atomic. */
  add(addresses: readonly Address[], slot: number): void {
    this.#db.transaction(() => {
      for (const address of addresses) {
        this.#size += this.#statements.add.run(addressBytes(address), slot).changes;
      }
    })();
  }

  remove(addresses: readonly Address[]): void {
    for (const address of addresses) {
      this.#size -= this.#statements.remove.run(addressBytes(address)).changes;
    }
  }

  /** Removes addresses whose slot was lost in a crash. */
  truncateAfter(newest: number): void {
    this.#size -= this.#statements.truncate.run(newest).changes;
  }

  /** Addresses decided on after a slot. */
  addedAfter(slot: number): Address[] {
    const rows = this.#statements.addedAfter.all(slot) as { address: Uint8Array }[];
    return rows.map(({ address }) => addressFromBytes(address));
  }

  close(): void {
    this.#db.close();
  }
}

const prepare = (db: Database.Database) => ({
  count: db.prepare('SELECT count(*) AS count FROM address'),
  find: db.prepare('SELECT 1 FROM address WHERE address = ?'),
  add: db.prepare('INSERT OR IGNORE INTO address VALUES (?, ?)'),
  remove: db.prepare('DELETE FROM address WHERE address = ?'),
  truncate: db.prepare('DELETE FROM address WHERE slot > ?'),
  addedAfter: db.prepare('SELECT address FROM address WHERE slot > ?'),
});

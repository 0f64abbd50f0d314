import { rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { type Address, addressBytes } from '../../../../src/solana/address.ts';
import { allKeys } from '../../../../src/solana/message/message-keys.ts';
import { type Signature, signatureBytes, signatureFromBytes } from '../../../../src/solana/signature.ts';
import { isSimpleVote } from '../../../../src/solana/transaction/simple-vote.ts';
import type { TransactionError } from '../../../../src/solana/transaction/transaction-error.ts';
import { slot } from '../../../../src/solana/units.ts';
import type { AddressSignature } from '../node.ts';
import { AddressHistory, tokenOwners } from './address-history.ts';
import type { Minute } from './performance-samples.ts';
import type { RecordPosition } from './segment-log.ts';
import type { SlotRecord } from './slot-record.ts';

type BlockRow = { segment: number; offset: number; length: number; time: number };
type TransactionLocation = Readonly<{ slot: number; index: number; err: TransactionError | null }>;
type Indexed = Pick<SlotRecord, 'header' | 'transactions'>;

/** An index of another version is rebuilt from the log. */
const VERSION = 3;

const schema = `
  CREATE TABLE block (
    slot INTEGER PRIMARY KEY, segment INTEGER NOT NULL, offset INTEGER NOT NULL,
    length INTEGER NOT NULL, time INTEGER NOT NULL, nonvotes INTEGER NOT NULL
  );
  CREATE INDEX block_in_use ON block (slot) WHERE nonvotes > 0;
  CREATE TABLE tx (
    slot INTEGER NOT NULL, idx INTEGER NOT NULL, signature BLOB NOT NULL, err TEXT,
    PRIMARY KEY (slot, idx)
  ) WITHOUT ROWID;
  CREATE INDEX tx_by_signature ON tx (signature);
  CREATE TABLE mention (
    address BLOB NOT NULL, slot INTEGER NOT NULL, idx INTEGER NOT NULL,
    PRIMARY KEY (address, slot, idx)
  ) WITHOUT ROWID;
  CREATE TABLE holding (
    owner BLOB NOT NULL, slot INTEGER NOT NULL, idx INTEGER NOT NULL, changed INTEGER NOT NULL,
    PRIMARY KEY (owner, slot, idx)
  ) WITHOUT ROWID;
`;

/** Greater than any requested slot. */
const END = Number.MAX_SAFE_INTEGER;

/**
 * SQLite index of blocks, transactions and addresses. It is derived from the log, so it is not synced to disk:
 * missing records are added again, and an unreadable file is rebuilt.
 */
export class HistoryIndex {
  readonly #db: Database.Database;
  readonly #statements: ReturnType<typeof prepare>;
  readonly addresses: AddressHistory;

  constructor(path: string) {
    this.#db = openOrRebuild(path);
    this.#statements = prepare(this.#db);
    this.addresses = new AddressHistory(this.#db);
  }

  /** -1 if empty. */
  get newestSlot(): number {
    return (this.#statements.newest.get() as { slot: number | null }).slot ?? -1;
  }

  /** 0 if empty. */
  get oldestSlot(): number {
    return (this.#statements.oldest.get() as { slot: number | null }).slot ?? 0;
  }

  /** Atomic. */
  add(records: readonly (readonly [Indexed, RecordPosition])[]): void {
    this.#atomically(() => {
      for (const [record, position] of records) this.#addOne(record, position);
    });
  }

  /** Atomic. */
  remove(records: readonly Indexed[]): void {
    this.#atomically(() => {
      for (const { header, transactions } of records) {
        this.#statements.removeBlock.run(header.slot);
        this.#statements.removeTransactions.run(header.slot);
        for (const [index, executed] of transactions.entries()) {
          for (const key of keysOf(executed)) this.#statements.removeMention.run(key, header.slot, index);
          for (const [owner] of tokenOwners(executed.meta)) {
            this.#statements.removeHolding.run(addressBytes(owner), header.slot, index);
          }
        }
      }
    });
  }

  /** Removes slots above `newest`, which the log lost in a crash. */
  truncateAfter(newest: number): void {
    if (this.newestSlot <= newest) return;
    this.#atomically(() => {
      for (const table of ['block', 'tx', 'mention', 'holding']) {
        this.#db.prepare(`DELETE FROM ${table} WHERE slot > ?`).run(newest);
      }
    });
  }

  position(at: number): RecordPosition | null {
    return (this.#statements.block.get(at) as BlockRow | undefined) ?? null;
  }

  /** Slots with transactions other than votes, up to `newest`, newest first. */
  slotsInUse(newest: number, limit: number): number[] {
    const slots: number[] = [];
    for (let below = newest + 1; slots.length < limit; below = slots.at(-1) ?? 0) {
      const { slot: found } = this.#statements.newestInUse.get(below) as { slot: number | null };
      if (found === null) break;
      slots.push(found);
    }
    return slots;
  }

  /** Unix seconds. */
  blockTime(at: number): number | null {
    return (this.#statements.block.get(at) as BlockRow | undefined)?.time ?? null;
  }

  /** Numbers of blocks, transactions and those that are no votes per minute, oldest first. */
  minutesAfter(newest: number): Minute[] {
    return this.#statements.minutes.all(newest) as Minute[];
  }

  locate(signature: Signature): TransactionLocation | null {
    const row = this.#statements.locate.get(signatureBytes(signature)) as
      | { slot: number; idx: number; err: string | null }
      | undefined;
    if (row === undefined) return null;
    return { slot: row.slot, index: row.idx, err: row.err === null ? null : JSON.parse(row.err) };
  }

  /** Newest first, bounds exclusive. */
  mentions(
    address: Address,
    range: Readonly<{
      before: Pick<TransactionLocation, 'slot' | 'index'>;
      after: Pick<TransactionLocation, 'slot' | 'index'>;
      limit: number;
    }>,
  ): AddressSignature[] {
    const { before, after, limit } = range;
    const rows = this.#statements.mentions.all(
      addressBytes(address),
      ...[before.slot, before.index, after.slot, after.index, limit],
    ) as { slot: number; idx: number; signature: Uint8Array }[];
    return rows.map((row) => ({
      slot: slot(row.slot),
      index: row.idx,
      signature: signatureFromBytes(row.signature),
    }));
  }

  close(): void {
    this.#db.close();
  }

  #addOne({ header, transactions }: Indexed, { segment, offset, length }: RecordPosition): void {
    const { addBlock, addTransaction, addMention, addHolding } = this.#statements;
    const nonVotes = transactions.filter(({ transaction }) => !isSimpleVote(transaction)).length;
    addBlock.run(header.slot, segment, offset, length, header.blockTime, nonVotes);
    for (const [index, executed] of transactions.entries()) {
      const signature = signatureBytes(executed.transaction.signatures[0] as Signature);
      const { err } = executed.meta;
      addTransaction.run(header.slot, index, signature, err === null ? null : JSON.stringify(err));
      for (const key of keysOf(executed)) addMention.run(key, header.slot, index);
      for (const [owner, isChanged] of tokenOwners(executed.meta)) {
        addHolding.run(addressBytes(owner), header.slot, index, isChanged ? 1 : 0);
      }
    }
  }

  #atomically(work: () => void): void {
    this.#db.transaction(work)();
  }
}

/** Exclusive bound before all transactions. */
export const BEFORE_ALL: Pick<TransactionLocation, 'slot' | 'index'> = { slot: -1, index: -1 };
export const afterSlot = (newest: bigint): Pick<TransactionLocation, 'slot' | 'index'> => ({
  slot: newest < BigInt(END) ? Number(newest) : END,
  index: END,
});

const keysOf = ({ transaction, meta }: SlotRecord['transactions'][number]): Uint8Array[] =>
  allKeys(transaction.message, meta.loadedAddresses).map(addressBytes);

function prepare(db: Database.Database) {
  return {
    newest: db.prepare('SELECT max(slot) AS slot FROM block'),
    oldest: db.prepare('SELECT min(slot) AS slot FROM block'),
    block: db.prepare('SELECT segment, offset, length, time FROM block WHERE slot = ?'),
    newestInUse: db.prepare('SELECT max(slot) AS slot FROM block WHERE slot < ? AND nonvotes > 0'),
    minutes: db.prepare(`
      SELECT max(slot) AS slot, count(*) AS slots,
        sum((SELECT count(*) FROM tx WHERE tx.slot = block.slot)) AS transactions,
        sum(nonvotes) AS nonVotes
      FROM block WHERE slot > ? GROUP BY time / 60 ORDER BY slot`),
    locate: db.prepare('SELECT slot, idx, err FROM tx WHERE signature = ? ORDER BY slot DESC LIMIT 1'),
    mentions: db.prepare(`
      SELECT mention.slot AS slot, mention.idx AS idx, tx.signature AS signature
      FROM mention JOIN tx ON tx.slot = mention.slot AND tx.idx = mention.idx
      WHERE address = ? AND (mention.slot, mention.idx) < (?, ?) AND (mention.slot, mention.idx) > (?, ?)
      ORDER BY mention.slot DESC, mention.idx DESC LIMIT ?`),
    addBlock: db.prepare('INSERT OR REPLACE INTO block VALUES (?, ?, ?, ?, ?, ?)'),
    addTransaction: db.prepare('INSERT OR REPLACE INTO tx VALUES (?, ?, ?, ?)'),
    addMention: db.prepare('INSERT OR REPLACE INTO mention VALUES (?, ?, ?)'),
    addHolding: db.prepare('INSERT OR REPLACE INTO holding VALUES (?, ?, ?, ?)'),
    removeBlock: db.prepare('DELETE FROM block WHERE slot = ?'),
    removeTransactions: db.prepare('DELETE FROM tx WHERE slot = ?'),
    removeHolding: db.prepare('DELETE FROM holding WHERE owner = ? AND slot = ? AND idx = ?'),
    removeMention: db.prepare('DELETE FROM mention WHERE address = ? AND slot = ? AND idx = ?'),
  };
}

function openOrRebuild(path: string): Database.Database {
  try {
    return openIndex(path);
  } catch {
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
    return openIndex(path);
  }
}

function openIndex(path: string): Database.Database {
  const db = new Database(path);
  try {
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = NORMAL');
    const version = db.pragma('user_version', { simple: true });
    if (version !== VERSION && version !== 0) throw new Error('unsupported index version');
    if (version === 0) db.exec(`BEGIN; ${schema} PRAGMA user_version = ${VERSION}; COMMIT;`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

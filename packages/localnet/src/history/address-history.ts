import type Database from 'better-sqlite3';
import { type Address, addressBytes } from '../../../../src/solana/address.ts';
import type { TransactionMeta } from '../../../../src/solana/transaction/transaction-meta.ts';
import { type Slot, slot } from '../../../../src/solana/units.ts';

/** Position in the chain. As a bound, it may be outside of it. */
export type ChainPosition = Readonly<{ slot: bigint; index: bigint }>;

/** All bounds are exclusive. */
export type AddressHistoryQuery = Readonly<{
  order: 'asc' | 'desc';
  after: ChainPosition;
  before: ChainPosition;
  /** Unix seconds, inclusive. */
  earliest: bigint;
  latest: bigint;
  status: 'any' | 'succeeded' | 'failed';
  /** Whether to include transactions of the address's token accounts. */
  tokenAccounts: 'none' | 'balanceChanged' | 'all';
  limit: number;
}>;

const I64_MAX = 0x7fff_ffff_ffff_ffffn;

/** Maximum integer of SQLite; no ledger value exceeds it. */
const limitToI64 = (value: bigint): bigint => (value > I64_MAX ? I64_MAX : value < -1n ? -1n : value);

const statusTests = { any: '', succeeded: 'AND tx.err IS NULL', failed: 'AND tx.err IS NOT NULL' } as const;

/** Owners of token accounts, and whether any of their balances changed. */
export function tokenOwners(meta: Pick<TransactionMeta, 'preTokenBalances' | 'postTokenBalances'>) {
  const amounts = new Map<number, bigint>();
  const owners = new Map<Address, boolean>();
  for (const { accountIndex, amount } of meta.preTokenBalances ?? []) amounts.set(accountIndex, amount);
  const after = new Map(
    (meta.postTokenBalances ?? []).map((balance) => [balance.accountIndex, balance.amount]),
  );
  for (const { owner, accountIndex } of [
    ...(meta.preTokenBalances ?? []),
    ...(meta.postTokenBalances ?? []),
  ]) {
    if (owner === null) continue;
    const isChanged = (amounts.get(accountIndex) ?? 0n) !== (after.get(accountIndex) ?? 0n);
    owners.set(owner, isChanged || (owners.get(owner) ?? false));
  }
  return owners;
}

const range = '(slot, idx) > (@afterSlot, @afterIndex) AND (slot, idx) < (@beforeSlot, @beforeIndex)';

const sources = {
  none: `SELECT slot, idx FROM mention WHERE address = @address AND ${range}`,
  balanceChanged: `SELECT slot, idx FROM holding WHERE owner = @address AND changed = 1 AND ${range}`,
  all: `SELECT slot, idx FROM holding WHERE owner = @address AND ${range}`,
} as const;

function queryText({ order, status, tokenAccounts }: AddressHistoryQuery): string {
  const found = tokenAccounts === 'none' ? sources.none : `${sources.none} UNION ${sources[tokenAccounts]}`;
  return `
    SELECT found.slot AS slot, found.idx AS idx FROM (${found}) AS found
    JOIN tx ON tx.slot = found.slot AND tx.idx = found.idx
    JOIN block ON block.slot = found.slot
    WHERE block.time BETWEEN @earliest AND @latest ${statusTests[status]}
    ORDER BY found.slot ${order}, found.idx ${order} LIMIT @limit`;
}

export class AddressHistory {
  readonly #db: Database.Database;
  readonly #statements = new Map<string, Database.Statement>();

  constructor(db: Database.Database) {
    this.#db = db;
  }

  find(address: Address, query: AddressHistoryQuery): { slot: Slot; index: number }[] {
    const rows = this.#statement(queryText(query)).all({
      address: addressBytes(address),
      afterSlot: limitToI64(query.after.slot),
      afterIndex: limitToI64(query.after.index),
      beforeSlot: limitToI64(query.before.slot),
      beforeIndex: limitToI64(query.before.index),
      earliest: limitToI64(query.earliest),
      latest: limitToI64(query.latest),
      limit: query.limit,
    }) as { slot: number; idx: number }[];
    return rows.map((row) => ({ slot: slot(row.slot), index: row.idx }));
  }

  #statement(text: string): Database.Statement {
    const known = this.#statements.get(text) ?? this.#db.prepare(text);
    this.#statements.set(text, known);
    return known;
  }
}

import { bytesKey } from '../../../base/text/bytes-key.ts';
import { InvalidProtobuf, ProtobufReader } from '../../../protocol/geyser/protobuf.ts';
import type { RawKeys, RawTransaction } from '../../../protocol/geyser/raw-update.ts';
import { ADDRESS_BYTES, ADDRESS_TEXT_MAX } from '../../../solana/address.ts';
import { decodeBase58 } from '../../../solana/base58.ts';

export const NO_KEYS: RawKeys = { bytes: new Uint8Array(), offsets: [] };

type Balance = { accountIndex: number; owner: Uint8Array; amount: string };

/** Reads a `UiTokenAmount`. @returns the amount in base units, as text. */
function readAmount(reader: ProtobufReader): string {
  let amount = '';
  while (reader.next()) {
    if (reader.field === 3) amount = bytesKey(reader.bytes());
    else reader.skipField();
  }
  return amount;
}

/** Reads a `TokenBalance`. @returns null if it has no valid owner. */
function readBalance(reader: ProtobufReader): Balance | null {
  let accountIndex = 0;
  let [owner, amount] = ['', ''];
  while (reader.next()) {
    if (reader.field === 1) accountIndex = reader.uint32();
    else if (reader.field === 3) amount = readAmount(reader.message());
    else if (reader.field === 4) owner = bytesKey(reader.bytes());
    else reader.skipField();
  }
  const bytes = owner.length > ADDRESS_TEXT_MAX ? null : decodeBase58(owner);
  return bytes?.length === ADDRESS_BYTES ? { accountIndex, owner: bytes, amount } : null;
}

type Balances = Readonly<{ before: readonly Balance[]; after: readonly Balance[] }>;

/** Reads the token balances in a `TransactionStatusMeta`. @returns empty lists if the meta is invalid. */
function readBalances(meta: Uint8Array): Balances {
  const before: Balance[] = [];
  const after: Balance[] = [];
  try {
    const reader = new ProtobufReader(meta);
    while (reader.next()) {
      if (reader.field !== 7 && reader.field !== 8) {
        reader.skipField();
        continue;
      }
      const list = reader.field === 7 ? before : after;
      const balance = readBalance(reader.message());
      if (balance !== null) list.push(balance);
    }
  } catch (cause) {
    if (!(cause instanceof InvalidProtobuf)) throw cause;
    return { before: [], after: [] };
  }
  return { before, after };
}

/** Balances that changed, including those of created and closed accounts. */
function changedBalances({ before, after }: Balances): Balance[] {
  const earlier = new Map(before.map((balance) => [balance.accountIndex, balance]));
  const later = new Set(after.map(({ accountIndex }) => accountIndex));
  return [
    ...after.filter(({ accountIndex, amount }) => earlier.get(accountIndex)?.amount !== amount),
    ...[...earlier.values()].filter(({ accountIndex }) => !later.has(accountIndex)),
  ];
}

function keysOf(balances: readonly Balance[]): RawKeys {
  const bytes = new Uint8Array(balances.length * ADDRESS_BYTES);
  const offsets = balances.map((_, i) => i * ADDRESS_BYTES);
  balances.forEach(({ owner }, i) => {
    bytes.set(owner, i * ADDRESS_BYTES);
  });
  return { bytes, offsets };
}

/** Token account owners, cached for one transaction. Source: yellowstone-grpc-geyser, `owners_in_any_balance`. */
export class TokenOwners {
  #of: RawTransaction | null = null;
  #balances: Balances | null = null;
  #all: RawKeys | null = null;
  #changedKeys: RawKeys | null = null;

  of(transaction: RawTransaction, which: 'all' | 'balanceChanged'): RawKeys {
    if (transaction.meta === null) return NO_KEYS;
    if (this.#of !== transaction) {
      this.#of = transaction;
      this.#balances = null;
      this.#all = null;
      this.#changedKeys = null;
    }
    this.#balances ??= readBalances(transaction.meta);
    if (which === 'all') {
      this.#all ??= keysOf([...this.#balances.before, ...this.#balances.after]);
      return this.#all;
    }
    this.#changedKeys ??= keysOf(changedBalances(this.#balances));
    return this.#changedKeys;
  }
}

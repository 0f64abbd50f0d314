import { encodeTimestamp } from '../../src/protocol/geyser/encode/envelope.ts';
import { ProtobufReader } from '../../src/protocol/geyser/protobuf.ts';
import { ProtobufWriter } from '../../src/protocol/geyser/protobuf-writer.ts';
import type {
  RawAccount,
  RawBlock,
  RawBlockMeta,
  RawEntry,
  RawKeys,
  RawSlot,
  RawTransaction,
} from '../../src/protocol/geyser/raw-update.ts';
import type { SlotStatus } from '../../src/protocol/geyser/update/slot.ts';
import { addressBytes } from '../../src/solana/address.ts';
import { lamports, slot } from '../../src/solana/units.ts';
import type { GeyserSink } from '../../src/streams/geyser/geyser-sink.ts';
import { key } from './ledger-script.ts';

/** Handmade updates for filter tests. A tail is not a message; it only identifies its update. */

const createdAt = encodeTimestamp(1_700_000_000_000n);
let tails = 0;

const raw = () => ({ slot: slot(7), tail: Buffer.from(`tail ${tails++}`), createdAt });

/** Keys at offsets that are neither zero nor adjacent. */
function randomKeys(numbers: readonly number[]): RawKeys {
  const bytes = new Uint8Array(numbers.length * 35 + 3).fill(0xee);
  const offsets = numbers.map((_, i) => 3 + i * 35);
  numbers.forEach((n, i) => {
    bytes.set(addressBytes(key(n)), offsets[i]);
  });
  return { bytes, offsets };
}

export type AccountFields = Readonly<{
  address?: number;
  owner?: number;
  lamports?: bigint;
  data?: Uint8Array;
  isByTransaction?: boolean;
}>;

/** An account of slot 7; default: address 1, owner 2, not written by a transaction. */
export function accountUpdate(draw: AccountFields = {}): RawAccount {
  const data = draw.data ?? new Uint8Array();
  const address = addressBytes(key(draw.address ?? 1));
  return {
    ...raw(),
    kind: 'account',
    info: new ProtobufWriter().bytes(1, address).bytes(6, data).finish(),
    address,
    owner: addressBytes(key(draw.owner ?? 2)),
    lamports: lamports(draw.lamports ?? 1n),
    data,
    writeVersion: 1n,
    signature: draw.isByTransaction === true ? new Uint8Array(64).fill(9) : null,
    isStartup: false,
  };
}

/** A token balance; an owner given as a string is used unchanged. */
export type BalanceFields = Readonly<{ at: number; owner: number | string; amount: string | null }>;

function balance({ at, owner, amount }: BalanceFields): ProtobufWriter {
  const writer = new ProtobufWriter().uint32(1, at).string(2, key(200));
  if (amount !== null) writer.message(3, new ProtobufWriter().uint32(2, 6).string(3, amount));
  return writer.string(4, typeof owner === 'string' ? owner : key(owner));
}

export type TransactionFields = Readonly<{
  signature?: number;
  isVote?: boolean;
  hasFailed?: boolean;
  keys?: readonly number[];
  before?: readonly BalanceFields[];
  after?: readonly BalanceFields[];
}>;

/** A transaction of slot 7; default: keys 1 and 2, succeeded, not a vote. */
export function transactionUpdate(draw: TransactionFields = {}): RawTransaction {
  const meta = new ProtobufWriter().uint64(2, 5000n);
  for (const each of draw.before ?? []) meta.message(7, balance(each));
  for (const each of draw.after ?? []) meta.message(8, balance(each));
  return {
    ...raw(),
    kind: 'transaction',
    info: new Uint8Array(),
    signature: new Uint8Array(64).fill(draw.signature ?? 1),
    isVote: draw.isVote ?? false,
    index: 3,
    err: draw.hasFailed === true ? Uint8Array.of(0x0a, 0) : null,
    keys: randomKeys(draw.keys ?? [1, 2]),
    meta: meta.finish(),
  };
}

/** A status of slot 7. */
export const slotUpdate = (status: SlotStatus): RawSlot => ({
  ...raw(),
  kind: 'slot',
  parent: null,
  status,
  deadError: null,
});

/** An entry of slot 7. */
export const entryUpdate = (): RawEntry => ({
  ...raw(),
  kind: 'entry',
  message: new ProtobufWriter().uint32(2, 4).finish(),
  index: 4,
});

export const blockMetaUpdate = (): RawBlockMeta => ({
  ...raw(),
  kind: 'blockMeta',
  message: new ProtobufWriter().uint64(1, 7n).string(2, key(90)).finish(),
  blockhash: key(90),
  blockHeight: 6n,
  parentSlot: slot(6),
  executedTransactionCount: 50,
  entriesCount: 60,
  updatedAccountCount: null,
});

export function blockUpdate(
  content: Partial<Pick<RawBlock, 'transactions' | 'accounts' | 'entries'>> = {},
): RawBlock {
  return {
    kind: 'block',
    slot: slot(7),
    createdAt,
    meta: blockMetaUpdate(),
    transactions: [],
    accounts: [],
    entries: [],
    updatedAccountCount: 70,
    ...content,
  };
}

/** The filter names that precede a tail. */
export function namesIn(encoded: Uint8Array): string[] {
  const names: string[] = [];
  const reader = new ProtobufReader(encoded);
  while (reader.next()) names.push(reader.string());
  return names;
}

export class RecordingSink implements GeyserSink {
  readonly messages: { names: Uint8Array; tail: Uint8Array }[] = [];

  push(names: Uint8Array, tail: Uint8Array): void {
    this.messages.push({ names, tail });
  }

  end(): void {}

  lag(): void {}

  /** Filter names of each message since the last call. */
  take(): string[][] {
    return this.messages.splice(0).map(({ names }) => namesIn(names));
  }
}

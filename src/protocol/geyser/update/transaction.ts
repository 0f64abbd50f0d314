import { ByteReader, ByteWriter } from '../../../base/bytes.ts';
import { addressFromBytes } from '../../../solana/address.ts';
import type { ExecutedTransaction } from '../../../solana/block.ts';
import { blockhashFromBytes } from '../../../solana/blockhash.ts';
import { encodeMessage, readInstruction, VERSION_PREFIX } from '../../../solana/message/message.ts';
import type { TransactionConfig } from '../../../solana/message/transaction-config.ts';
import { writeShortVec } from '../../../solana/short-vec.ts';
import type { Signature } from '../../../solana/signature.ts';
import { decodeTransaction, TRANSACTION_MAX_BYTES } from '../../../solana/transaction/decode-transaction.ts';
import { encodeTransaction } from '../../../solana/transaction/encode-transaction.ts';
import type { Transaction } from '../../../solana/transaction/transaction.ts';
import type { TransactionMeta } from '../../../solana/transaction/transaction-meta.ts';
import type { Slot } from '../../../solana/units.ts';
import { readSignature, required } from '../fields.ts';
import { InvalidProtobuf, NO_BYTES, type ProtobufReader } from '../protobuf.ts';
import { readMeta } from '../storage/meta.ts';

/** Field numbers. Source: solana-storage.proto. */
const MESSAGE = { header: 1, keys: 2, blockhash: 3, instructions: 4, versioned: 5, lookups: 6, config: 7 };

const emptyParts = () => ({
  header: null as Uint8Array | null,
  keys: [] as Uint8Array[],
  blockhash: null as Uint8Array | null,
  instructions: [] as Uint8Array[],
  versioned: false,
  lookups: [] as Uint8Array[],
  /** Version 1 only. */
  config: null as TransactionConfig | null,
});
type Parts = ReturnType<typeof emptyParts>;

function headerBytes(reader: ProtobufReader): Uint8Array {
  const counts = new Uint8Array(3);
  while (reader.next()) {
    if (reader.field <= counts.length) counts[reader.field - 1] = reader.u8();
    else reader.skipField();
  }
  return counts;
}

function writeCounted(writer: ByteWriter, bytes: Uint8Array): void {
  if (bytes.length > 0xffff) throw new InvalidProtobuf('list too long');
  writeShortVec(writer, bytes.length);
  writer.bytes(bytes);
}

/** Wire format of an instruction or, if `keyed`, of an address table lookup. */
function partBytes(reader: ProtobufReader, keyed: boolean): Uint8Array {
  let program = 0;
  let key: Uint8Array | null = null;
  let [second, third] = [NO_BYTES, NO_BYTES];
  while (reader.next()) {
    if (reader.field === 1 && keyed) key = reader.fixedBytes(32);
    else if (reader.field === 1) program = reader.u8();
    else if (reader.field === 2) second = reader.bytes();
    else if (reader.field === 3) third = reader.bytes();
    else reader.skipField();
  }
  const writer = new ByteWriter(40 + second.length + third.length);
  if (keyed) writer.bytes(required(key, 'the key of a lookup'));
  else writer.u8(program);
  writeCounted(writer, second);
  writeCounted(writer, third);
  return writer.finish();
}

function readConfig(reader: ProtobufReader): TransactionConfig {
  let priorityFee: bigint | null = null;
  const limits: (number | null)[] = [null, null, null];
  while (reader.next()) {
    if (reader.field === 1) priorityFee = reader.uint64();
    else if (reader.field <= 1 + limits.length) limits[reader.field - 2] = reader.uint32();
    else reader.skipField();
  }
  const [computeUnitLimit = null, loadedAccountsDataSizeLimit = null, heapSize = null] = limits;
  return { priorityFee, computeUnitLimit, loadedAccountsDataSizeLimit, heapSize };
}

function readParts(reader: ProtobufReader): Parts {
  const parts = emptyParts();
  while (reader.next()) {
    if (reader.field === MESSAGE.header) parts.header = headerBytes(reader.message());
    else if (reader.field === MESSAGE.keys) parts.keys.push(reader.fixedBytes(32));
    else if (reader.field === MESSAGE.blockhash) parts.blockhash = reader.fixedBytes(32);
    else if (reader.field === MESSAGE.instructions)
      parts.instructions.push(partBytes(reader.message(), false));
    else if (reader.field === MESSAGE.versioned) parts.versioned = reader.bool();
    else if (reader.field === MESSAGE.lookups) parts.lookups.push(partBytes(reader.message(), true));
    else if (reader.field === MESSAGE.config) parts.config = readConfig(reader.message());
    else reader.skipField();
  }
  return parts;
}

function writeAll(writer: ByteWriter, items: readonly Uint8Array[]): void {
  if (items.length > 0xffff) throw new InvalidProtobuf('list too long');
  writeShortVec(writer, items.length);
  for (const item of items) writer.bytes(item);
}

function wireOf(signatures: readonly Uint8Array[], parts: Parts): Uint8Array {
  if (parts.config !== null) return version1Wire(signatures, parts, parts.config);
  const writer = new ByteWriter(TRANSACTION_MAX_BYTES);
  writeAll(writer, signatures);
  if (parts.versioned) writer.u8(VERSION_PREFIX);
  writer.bytes(required(parts.header, 'the header of a message'));
  writeAll(writer, parts.keys);
  writer.bytes(required(parts.blockhash, 'the blockhash of a message'));
  writeAll(writer, parts.instructions);
  if (parts.versioned) writeAll(writer, parts.lookups);
  return writer.finish();
}

/** Counts of version 1 are single bytes. */
const VERSION_1_COUNT_MAX = 0xff;

function version1Wire(
  signatures: readonly Uint8Array[],
  parts: Parts,
  config: TransactionConfig,
): Uint8Array {
  const [numRequiredSignatures = 0, numReadonlySignedAccounts = 0, numReadonlyUnsignedAccounts = 0] =
    required(parts.header, 'the header of a message');
  const { keys, instructions } = parts;
  if (Math.max(keys.length, instructions.length) > VERSION_1_COUNT_MAX)
    throw new InvalidProtobuf('list too long');
  const message = encodeMessage({
    version: 1,
    header: { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts },
    accountKeys: keys.map(addressFromBytes),
    recentBlockhash: blockhashFromBytes(required(parts.blockhash, 'the blockhash of a message')),
    instructions: instructions.map((part) => readInstruction(new ByteReader(part))),
    addressTableLookups: [],
    config,
  });
  return encodeTransaction(signatures, message);
}

/** Rebuilds the wire format and decodes it, so that all transactions are validated alike. */
export function readTransaction(reader: ProtobufReader): Transaction {
  const signatures: Uint8Array[] = [];
  let parts: Parts | null = null;
  while (reader.next()) {
    if (reader.field === 1) signatures.push(reader.fixedBytes(64));
    else if (reader.field === 2) parts = readParts(reader.message());
    else reader.skipField();
  }
  const decoded = decodeTransaction(wireOf(signatures, required(parts, 'the message of a transaction')));
  if ('fault' in decoded) throw new InvalidProtobuf(`invalid transaction: ${decoded.fault}`);
  return decoded.transaction;
}

/** Source: geyser.proto, `SubscribeUpdateTransactionInfo`. */
export type TransactionInfo = Readonly<{
  signature: Signature;
  isVote: boolean;
  executed: ExecutedTransaction;
  index: number;
}>;

export type TransactionUpdate = Readonly<{ kind: 'transaction'; slot: Slot; info: TransactionInfo }>;

export function readTransactionInfo(reader: ProtobufReader): TransactionInfo {
  let signature: Signature | null = null;
  let [isVote, index] = [false, 0];
  let transaction: Transaction | null = null;
  let meta: TransactionMeta | null = null;
  while (reader.next()) {
    if (reader.field === 1) signature = readSignature(reader);
    else if (reader.field === 2) isVote = reader.bool();
    else if (reader.field === 3) transaction = readTransaction(reader.message());
    else if (reader.field === 4) meta = readMeta(reader.message());
    else if (reader.field === 5) index = reader.count();
    else reader.skipField();
  }
  return {
    signature: required(signature, 'a signature'),
    isVote,
    executed: {
      transaction: required(transaction, 'a transaction'),
      meta: required(meta, 'the meta of a transaction'),
    },
    index,
  };
}

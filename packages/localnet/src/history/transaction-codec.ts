import type { ByteReader, ByteWriter } from '../../../../src/base/bytes.ts';
import { type Address, addressBytes, addressFromBytes } from '../../../../src/solana/address.ts';
import type { CompiledInstruction } from '../../../../src/solana/message/message.ts';
import { decodeTransaction } from '../../../../src/solana/transaction/decode-transaction.ts';
import type { TransactionError } from '../../../../src/solana/transaction/transaction-error.ts';
import type { ReturnData } from '../../../../src/solana/transaction/transaction-meta.ts';
import { type Lamports, lamports } from '../../../../src/solana/units.ts';
import type {
  RecordedInnerInstruction,
  RecordedInnerInstructions,
  RecordedMeta,
  RecordedTokenBalance,
  RecordedTransaction,
} from '../bank/token-balances.ts';

/** Record that is corrupt or of an unknown format. */
export class CorruptRecord extends Error {
  override readonly name = 'CorruptRecord';
}

const text = new TextDecoder();

function writeBytes(writer: ByteWriter, bytes: Uint8Array): void {
  writer.u32(bytes.length).bytes(bytes);
}

/** Copies the bytes, because the result outlives the record. */
const readBytes = (reader: ByteReader): Uint8Array => new Uint8Array(reader.bytes(reader.u32()));

function writeText(writer: ByteWriter, value: string): void {
  writeBytes(writer, Buffer.from(value));
}

const readText = (reader: ByteReader): string => text.decode(reader.bytes(reader.u32()));

function writeList<T>(
  writer: ByteWriter,
  items: readonly T[],
  write: (writer: ByteWriter, item: T) => void,
): void {
  writer.u32(items.length);
  for (const item of items) write(writer, item);
}

function readList<T>(reader: ByteReader, read: (reader: ByteReader) => T): T[] {
  const count = reader.u32();
  const items: T[] = [];
  for (let i = 0; i < count; i++) items.push(read(reader));
  return items;
}

function writeAddress(writer: ByteWriter, address: Address): void {
  writer.bytes(addressBytes(address));
}

const readAddress = (reader: ByteReader): Address => addressFromBytes(reader.bytes(32));

function writeLamports(writer: ByteWriter, value: Lamports): void {
  writer.u64(value);
}

const readLamports = (reader: ByteReader): Lamports => lamports(reader.u64());

function writeInstruction(writer: ByteWriter, instruction: CompiledInstruction): void {
  writer.u8(instruction.programIdIndex);
  writeBytes(writer, instruction.accounts);
  writeBytes(writer, instruction.data);
}

const readInstruction = (reader: ByteReader): CompiledInstruction => ({
  programIdIndex: reader.u8(),
  accounts: readBytes(reader),
  data: readBytes(reader),
});

function writeInner(writer: ByteWriter, inner: RecordedInnerInstruction): void {
  writeInstruction(writer, inner);
  writer.u8(inner.stackHeight);
}

const readInner = (reader: ByteReader): RecordedInnerInstruction => ({
  ...readInstruction(reader),
  stackHeight: reader.u8(),
});

function writeInnerList(writer: ByteWriter, { index, instructions }: RecordedInnerInstructions): void {
  writer.u8(index);
  writeList(writer, instructions, writeInner);
}

const readInnerList = (reader: ByteReader): RecordedInnerInstructions => ({
  index: reader.u8(),
  instructions: readList(reader, readInner),
});

function writeTokenBalance(writer: ByteWriter, balance: RecordedTokenBalance): void {
  writer.u16(balance.accountIndex);
  writeAddress(writer, balance.mint);
  writeAddress(writer, balance.owner);
  writeAddress(writer, balance.programId);
  writer.u64(balance.amount).u8(balance.decimals);
}

const readTokenBalance = (reader: ByteReader): RecordedTokenBalance => ({
  accountIndex: reader.u16(),
  mint: readAddress(reader),
  owner: readAddress(reader),
  programId: readAddress(reader),
  amount: reader.u64(),
  decimals: reader.u8(),
});

function writeReturnData(writer: ByteWriter, returnData: ReturnData | null): void {
  writer.bool(returnData !== null);
  if (returnData === null) return;
  writeAddress(writer, returnData.programId);
  writeBytes(writer, returnData.data);
}

const readReturnData = (reader: ByteReader): ReturnData | null =>
  reader.bool() ? { programId: readAddress(reader), data: readBytes(reader) } : null;

/** Fields in type order; lists and texts have a u32 count. The error is JSON, '' for none. */
function writeMeta(writer: ByteWriter, meta: RecordedMeta): void {
  writeText(writer, meta.err === null ? '' : JSON.stringify(meta.err));
  writeLamports(writer, meta.fee);
  writeList(writer, meta.preBalances, writeLamports);
  writeList(writer, meta.postBalances, writeLamports);
  writeList(writer, meta.innerInstructions ?? [], writeInnerList);
  writeList(writer, meta.logMessages ?? [], writeText);
  writeList(writer, meta.preTokenBalances, writeTokenBalance);
  writeList(writer, meta.postTokenBalances, writeTokenBalance);
  writeList(writer, meta.loadedAddresses.writable, writeAddress);
  writeList(writer, meta.loadedAddresses.readonly, writeAddress);
  writeReturnData(writer, meta.returnData);
  writer.u64(meta.computeUnitsConsumed).u64(meta.costUnits);
}

function readMeta(reader: ByteReader): RecordedMeta {
  const text = readText(reader);
  const err = text === '' ? null : (JSON.parse(text) as TransactionError);
  const head = {
    fee: readLamports(reader),
    preBalances: readList(reader, readLamports),
    postBalances: readList(reader, readLamports),
  };
  const innerInstructions = readList(reader, readInnerList);
  const logMessages = readList(reader, readText);
  // Errors of instructions are objects; any other means that only the fee was charged.
  const executed = typeof err !== 'string' || logMessages.length > 0;
  return {
    err,
    ...head,
    innerInstructions: executed ? innerInstructions : null,
    logMessages: executed ? logMessages : null,
    preTokenBalances: readList(reader, readTokenBalance),
    postTokenBalances: readList(reader, readTokenBalance),
    rewards: [],
    loadedAddresses: { writable: readList(reader, readAddress), readonly: readList(reader, readAddress) },
    returnData: readReturnData(reader),
    computeUnitsConsumed: reader.u64(),
    costUnits: reader.u64(),
  };
}

/** Wire form and meta. */
export function writeExecuted(writer: ByteWriter, { transaction, meta }: RecordedTransaction): void {
  writeBytes(writer, transaction.wire);
  writeMeta(writer, meta);
}

/** @throws CorruptRecord, OutOfBytes or SyntaxError */
export function readExecuted(reader: ByteReader): RecordedTransaction {
  const decoded = decodeTransaction(readBytes(reader));
  if ('fault' in decoded) throw new CorruptRecord(`corrupt transaction record: ${decoded.fault}`);
  return { transaction: decoded.transaction, meta: readMeta(reader) };
}

import { NO_BYTES, ProtobufReader } from '../protobuf.ts';
import { fieldBytes, ProtobufWriter } from '../protobuf-writer.ts';
import type { RawAccount, RawBlock, RawEntry, RawTransaction } from '../raw-update.ts';
import type { DataSlice } from '../subscribe-request.ts';
import { writeSlicedInfo } from './raw-account.ts';

export type BlockSelection = Readonly<{
  transactions: readonly RawTransaction[];
  accounts: readonly RawAccount[];
  entries: readonly RawEntry[];
  slices: readonly DataSlice[] | null;
}>;

const TRANSACTIONS = 6;
const ACCOUNTS = 11;
const ENTRIES = 13;
/** Space for the scalar fields. */
const SCALARS_BYTES = 64;

const COMMON = 5;
const PARENT_BLOCKHASH = 7;

/** Copies fields 1 to 5, which a block and its meta share. @returns the parent blockhash. */
function writeCommon(writer: ProtobufWriter, meta: Uint8Array): Uint8Array {
  let parentBlockhash = NO_BYTES;
  const fields = new ProtobufReader(meta);
  while (fields.next()) {
    if (fields.field === PARENT_BLOCKHASH) {
      parentBlockhash = fields.bytes();
      continue;
    }
    fields.skipField();
    if (fields.field <= COMMON) writer.rawPart(meta, fields.fieldStart, fields.offset);
  }
  return parentBlockhash;
}

/** Encodes the selected parts of a block. The encoded counts are those of the whole block. */
export function blockTail(block: RawBlock, selection: BlockSelection): Uint8Array {
  const { meta, createdAt } = block;
  // Approximate size, for the length prefix and the initial capacity.
  let bytes = block.meta.message.length + SCALARS_BYTES;
  for (const { info } of selection.transactions) bytes += fieldBytes(TRANSACTIONS, info.length);
  for (const { info } of selection.accounts) bytes += fieldBytes(ACCOUNTS, info.length);
  for (const { message } of selection.entries) bytes += fieldBytes(ENTRIES, message.length);
  const writer = new ProtobufWriter(bytes + SCALARS_BYTES);
  const start = writer.open(5, bytes);
  const parentBlockhash = writeCommon(writer, meta.message);
  for (const { info } of selection.transactions) writer.bytes(TRANSACTIONS, info);
  writer.nonzeroUint64(7, meta.parentSlot);
  writer.nonemptyBytes(8, parentBlockhash);
  writer.nonzeroUint32(9, meta.executedTransactionCount);
  writer.nonzeroUint32(10, block.updatedAccountCount);
  for (const account of selection.accounts) {
    if (selection.slices === null) writer.bytes(ACCOUNTS, account.info);
    else writeSlicedInfo(writer, ACCOUNTS, account, selection.slices);
  }
  writer.nonzeroUint32(12, meta.entriesCount);
  for (const { message } of selection.entries) writer.bytes(ENTRIES, message);
  writer.close(start);
  return writer.bytes(11, createdAt).finish();
}

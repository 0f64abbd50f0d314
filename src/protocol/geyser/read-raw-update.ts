import { type Slot, slot as slotOf } from '../../solana/units.ts';
import { encodeTimestamp } from './encode/envelope.ts';
import { readBlockhashText, readLamports, readSlot, readWrappedUint64, required } from './fields.ts';
import { InvalidProtobuf, NO_BYTES, ProtobufReader } from './protobuf.ts';
import { ProtobufWriter } from './protobuf-writer.ts';
import type { RawAccount, RawBlockMeta, RawEntry, RawUpdate } from './raw-update.ts';
import { readRawTransaction } from './read-raw-transaction.ts';
import { readPingId } from './request/filters.ts';
import { readSlotUpdate } from './update/slot.ts';

/** Account count of a block whose accounts are not sent individually. */
export type RawBlockCounts = Readonly<{ kind: 'blockCounts'; slot: Slot; updatedAccountCount: number }>;

export type RawMessage =
  | RawUpdate
  | RawBlockCounts
  | Readonly<{ kind: 'ping' } | { kind: 'pong'; id: number }>;

/** Fields of the inner update message. */
type Content<Update> = Update extends RawUpdate ? Omit<Update, 'tail' | 'createdAt'> : Update;
/** @param message - the complete message; offsets are relative to its start. */
type ReadContent = (reader: ProtobufReader, message: Uint8Array) => Content<RawMessage> | null;

const NAMES = 1;
const CREATED_AT = 11;
const FIRST_KIND = 2;
const LAST_KIND = 10;

type AccountDraft = {
  -readonly [Name in keyof Content<RawAccount>]: Content<RawAccount>[Name] | null;
};

function readAccountInfo(reader: ProtobufReader, draft: AccountDraft): void {
  while (reader.next()) {
    if (reader.field === 1) draft.address = reader.fixedBytes(32);
    else if (reader.field === 2) draft.lamports = readLamports(reader);
    else if (reader.field === 3) draft.owner = reader.fixedBytes(32);
    else if (reader.field === 6) draft.data = reader.bytes();
    else if (reader.field === 7) draft.writeVersion = reader.uint64();
    else if (reader.field === 8) draft.signature = reader.fixedBytes(64);
    else reader.skipField();
  }
}

function readAccount(reader: ProtobufReader, message: Uint8Array): Content<RawAccount> {
  const draft: AccountDraft = {
    kind: 'account',
    slot: slotOf(0),
    info: null,
    address: null,
    owner: null,
    lamports: 0n as RawAccount['lamports'],
    data: NO_BYTES,
    writeVersion: 0n,
    signature: null,
    isStartup: false,
  };
  while (reader.next()) {
    if (reader.field === 1) {
      const start = reader.span();
      draft.info = message.subarray(start, reader.offset);
      readAccountInfo(new ProtobufReader(message, start, reader.offset), draft);
    } else if (reader.field === 2) draft.slot = readSlot(reader);
    else if (reader.field === 3) draft.isStartup = reader.bool();
    else reader.skipField();
  }
  required(draft.address, 'the address of an account');
  required(draft.owner, 'the owner of an account');
  return draft as Content<RawAccount>;
}

function readEntry(reader: ProtobufReader, message: Uint8Array): Content<RawEntry> {
  const update = message.subarray(reader.offset, reader.end);
  let slot = slotOf(0);
  let index = 0;
  while (reader.next()) {
    if (reader.field === 1) slot = readSlot(reader);
    else if (reader.field === 2) index = reader.count();
    else reader.skipField();
  }
  return { kind: 'entry', slot, message: update, index };
}

function readBlockMeta(reader: ProtobufReader, message: Uint8Array): Content<RawBlockMeta> {
  const update = message.subarray(reader.offset, reader.end);
  let [slot, parentSlot] = [slotOf(0), slotOf(0)];
  let [executedTransactionCount, entriesCount] = [0, 0];
  let blockhash: string | null = null;
  let blockHeight: bigint | null = null;
  while (reader.next()) {
    if (reader.field === 1) slot = readSlot(reader);
    else if (reader.field === 2) blockhash = readBlockhashText(reader);
    else if (reader.field === 5) blockHeight = readWrappedUint64(reader);
    else if (reader.field === 6) parentSlot = readSlot(reader);
    else if (reader.field === 8) executedTransactionCount = reader.count();
    else if (reader.field === 9) entriesCount = reader.count();
    else reader.skipField();
  }
  return {
    kind: 'blockMeta',
    slot,
    message: update,
    blockhash: required(blockhash, 'a blockhash'),
    blockHeight,
    parentSlot,
    executedTransactionCount,
    entriesCount,
    updatedAccountCount: null,
  };
}

function readBlockCounts(reader: ProtobufReader): RawBlockCounts {
  let slot = slotOf(0);
  let updatedAccountCount = 0;
  while (reader.next()) {
    if (reader.field === 1) slot = readSlot(reader);
    else if (reader.field === 10) updatedAccountCount = reader.count();
    else reader.skipField();
  }
  return { kind: 'blockCounts', slot, updatedAccountCount };
}

/** Readers by field number. Transaction statuses are ignored: transactions contain the same data. */
const kinds: Readonly<Record<number, ReadContent>> = {
  2: readAccount,
  3: readSlotUpdate,
  4: readRawTransaction,
  5: readBlockCounts,
  6: () => ({ kind: 'ping' }),
  7: readBlockMeta,
  8: readEntry,
  9: (reader) => ({ kind: 'pong', id: readPingId(reader) }),
};

const emptyLayout = () => ({
  /** Field number of the content; 0 if unknown. */
  kind: 0,
  contentStart: 0,
  contentEnd: 0,
  createdAt: null as Uint8Array | null,
  namesEnd: 0,
  /** Whether filter names also occur after other fields. */
  hasTrailingNames: false,
});
type MessageLayout = ReturnType<typeof emptyLayout>;

function readLayout(bytes: Uint8Array): MessageLayout {
  const layout = emptyLayout();
  const reader = new ProtobufReader(bytes);
  while (reader.next()) {
    if (reader.field === CREATED_AT) layout.createdAt = reader.bytes();
    else if (reader.field >= FIRST_KIND && reader.field <= LAST_KIND) {
      if (layout.kind !== 0) throw new InvalidProtobuf('more than one update in a message');
      layout.kind = reader.field;
      layout.contentStart = reader.span();
      layout.contentEnd = reader.offset;
    } else {
      reader.skipField();
      if (reader.field !== NAMES) continue;
      if (reader.fieldStart === layout.namesEnd) layout.namesEnd = reader.offset;
      else layout.hasTrailingNames = true;
    }
  }
  return layout;
}

/** Copies the message only if names occur after other fields or `created_at` is missing. */
function tailWithoutNames(bytes: Uint8Array, layout: MessageLayout, createdAt: Uint8Array): Uint8Array {
  if (!layout.hasTrailingNames && layout.createdAt !== null) return bytes.subarray(layout.namesEnd);
  const writer = new ProtobufWriter(bytes.length + createdAt.length + 2);
  const reader = new ProtobufReader(bytes);
  while (reader.next()) {
    reader.skipField();
    if (reader.field !== NAMES) writer.rawPart(bytes, reader.fieldStart, reader.offset);
  }
  if (layout.createdAt === null) writer.bytes(CREATED_AT, createdAt);
  return writer.finish();
}

/**
 * Decodes only the fields of a `Subscribe` message that filters need. The result contains views into `bytes`.
 * @param receivedAtMs - used for messages without `created_at`.
 * @param origin - identifies the stream; needed if write versions are compared.
 * @returns null for transaction statuses and unknown kinds.
 */
export function readRawUpdate(
  bytes: Uint8Array,
  receivedAtMs: number,
  origin: object | null = null,
): RawMessage | null {
  const layout = readLayout(bytes);
  const read = kinds[layout.kind];
  if (read === undefined) return null;
  const content = read(new ProtobufReader(bytes, layout.contentStart, layout.contentEnd), bytes);
  if (content === null || content.kind === 'ping' || content.kind === 'pong') return content;
  if (content.kind === 'blockCounts') return content;
  const createdAt = layout.createdAt ?? encodeTimestamp(BigInt(receivedAtMs));
  const tail = tailWithoutNames(bytes, layout, createdAt);
  if (content.kind === 'account' && origin !== null)
    return Object.assign(content, { tail, createdAt, origin });
  return Object.assign(content, { tail, createdAt }) as RawUpdate;
}

import { ProtobufReader } from '../protobuf.ts';
import { ProtobufWriter } from '../protobuf-writer.ts';
import type { RawAccount } from '../raw-update.ts';
import type { DataSlice } from '../subscribe-request.ts';

const DATA = 6;
const INFO_OVERHEAD_BYTES = 170;

/** Used again by each call: none of them can be interrupted. */
const writer = new ProtobufWriter();

/**
 * The parts of an account's data, one after the other; one that ends behind the data is no part of it.
 * Source: yellowstone-grpc, `FilterAccountsDataSlice`.
 */
function writeParts(to: ProtobufWriter, data: Uint8Array, slices: readonly DataSlice[]): void {
  const start = to.open(DATA);
  for (const { offset, length } of slices) {
    const end = offset + length;
    if (end <= data.length) to.rawPart(data, Number(offset), Number(end));
  }
  to.close(start);
}

/** Writes a field that is `SubscribeUpdateAccountInfo` with no more of the data than the slices. */
export function writeSlicedInfo(
  to: ProtobufWriter,
  field: number,
  account: RawAccount,
  slices: readonly DataSlice[],
): void {
  const start = to.open(field, INFO_OVERHEAD_BYTES);
  const fields = new ProtobufReader(account.info);
  while (fields.next()) {
    fields.skipField();
    if (fields.field === DATA) writeParts(to, account.data, slices);
    else to.rawPart(account.info, fields.fieldStart, fields.offset);
  }
  to.close(start);
}

/**
 * A write of an account as `SubscribeUpdate` with parts of its data only.
 * @param slices - ascending, none of them overlapping.
 */
export function slicedAccountTail(account: RawAccount, slices: readonly DataSlice[]): Uint8Array {
  writer.clear();
  const start = writer.open(2, INFO_OVERHEAD_BYTES);
  writeSlicedInfo(writer, 1, account, slices);
  writer.uint64OrNone(2, account.slot).boolOrNone(3, account.isStartup);
  writer.close(start);
  return writer.bytes(11, account.createdAt).take();
}

import { ADDRESS_BYTES, addressBytes } from '../../../solana/address.ts';
import { SIGNATURE_BYTES, signatureBytes } from '../../../solana/signature.ts';
import { ProtobufReader } from '../protobuf.ts';
import { ProtobufWriter } from '../protobuf-writer.ts';
import type { RawAccount } from '../raw-update.ts';
import type { DataSlice } from '../subscribe-request.ts';
import type { AccountWrite } from '../update/account.ts';

/** Approximate encoded size without the data. */
const OVERHEAD_BYTES = 170;

/** Shared by all calls. This is safe because they are synchronous. */
const writer = new ProtobufWriter();

/** The byte fields of the result are views into its `tail`. */
export function rawAccount({
  slot,
  createdAt,
  write,
  isStartup,
}: Pick<RawAccount, 'slot' | 'createdAt' | 'isStartup'> & { write: AccountWrite }): RawAccount {
  const { address, account, writeVersion, signature } = write;
  const dataLength = account.data.length;
  writer.clear();
  const update = writer.open(2, dataLength + OVERHEAD_BYTES);
  const opened = writer.open(1, dataLength + OVERHEAD_BYTES);
  // End of each field, as a position in the writer.
  const ends = { address: 0, owner: 0, data: 0, signature: 0 };
  ends.address = writer.bytes(1, addressBytes(address)).length;
  writer.nonzeroUint64(2, account.lamports);
  ends.owner = writer.bytes(3, addressBytes(account.owner)).length;
  writer.trueBool(4, account.executable);
  writer.nonzeroUint64(5, account.rentEpoch);
  ends.data = writer.nonemptyBytes(6, account.data).length;
  writer.nonzeroUint64(7, writeVersion);
  if (signature !== null) ends.signature = writer.bytes(8, signatureBytes(signature)).length;
  const length = writer.length - opened;
  const closed = writer.close(opened);
  writer.nonzeroUint64(2, slot).trueBool(3, isStartup);
  const start = closed + writer.close(update) - update;
  const tail = writer.bytes(11, createdAt).take();
  const part = (end: number, bytes: number): Uint8Array =>
    tail.subarray(end - opened + start - bytes, end - opened + start);
  return {
    kind: 'account',
    slot,
    tail,
    createdAt,
    info: tail.subarray(start, start + length),
    address: part(ends.address, ADDRESS_BYTES),
    owner: part(ends.owner, ADDRESS_BYTES),
    lamports: account.lamports,
    data: part(ends.data, dataLength),
    writeVersion,
    signature: signature === null ? null : part(ends.signature, SIGNATURE_BYTES),
    isStartup,
  };
}

const DATA = 6;

/** Skips a slice that extends beyond the data. Source: yellowstone-grpc, `FilterAccountsDataSlice`. */
function writeParts(to: ProtobufWriter, data: Uint8Array, slices: readonly DataSlice[]): void {
  const start = to.open(DATA);
  for (const { offset, length } of slices) {
    const end = offset + length;
    if (end <= data.length) to.rawPart(data, Number(offset), Number(end));
  }
  to.close(start);
}

export function writeSlicedInfo(
  to: ProtobufWriter,
  field: number,
  account: RawAccount,
  slices: readonly DataSlice[],
): void {
  const start = to.open(field, OVERHEAD_BYTES);
  const fields = new ProtobufReader(account.info);
  while (fields.next()) {
    fields.skipField();
    if (fields.field === DATA) writeParts(to, account.data, slices);
    else to.rawPart(account.info, fields.fieldStart, fields.offset);
  }
  to.close(start);
}

/** @param slices - in ascending order, not overlapping. */
export function slicedAccountTail(account: RawAccount, slices: readonly DataSlice[]): Uint8Array {
  writer.clear();
  const start = writer.open(2, OVERHEAD_BYTES);
  writeSlicedInfo(writer, 1, account, slices);
  writer.nonzeroUint64(2, account.slot).trueBool(3, account.isStartup);
  writer.close(start);
  return writer.bytes(11, account.createdAt).take();
}

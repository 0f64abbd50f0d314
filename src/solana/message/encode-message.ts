import { ByteWriter } from '../../base/bytes.ts';
import { addressBytes } from '../address.ts';
import { blockhashBytes } from '../blockhash.ts';
import { writeShortVec } from '../short-vec.ts';
import type { Message } from './message.ts';

/**
 * The bytes that are signed: the inverse of `decodeMessage`.
 * @throws RangeError when a list has more than 65535 items: a defect in the program.
 */
export function encodeMessage(message: Message): Uint8Array {
  const writer = new ByteWriter(1232);
  if (message.version !== 'legacy') writer.u8(0x80 | message.version);
  writer
    .u8(message.header.numRequiredSignatures)
    .u8(message.header.numReadonlySignedAccounts)
    .u8(message.header.numReadonlyUnsignedAccounts);
  writeShortVec(writer, message.accountKeys.length);
  for (const key of message.accountKeys) writer.bytes(addressBytes(key));
  writer.bytes(blockhashBytes(message.recentBlockhash));
  writeShortVec(writer, message.instructions.length);
  for (const instruction of message.instructions) {
    writer.u8(instruction.programIdIndex);
    writeBytes(writer, instruction.accounts);
    writeBytes(writer, instruction.data);
  }
  if (message.version !== 'legacy') writeLookups(writer, message);
  return writer.finish();
}

function writeLookups(writer: ByteWriter, message: Message): void {
  writeShortVec(writer, message.addressTableLookups.length);
  for (const lookup of message.addressTableLookups) {
    writer.bytes(addressBytes(lookup.accountKey));
    writeBytes(writer, lookup.writableIndexes);
    writeBytes(writer, lookup.readonlyIndexes);
  }
}

function writeBytes(writer: ByteWriter, bytes: Uint8Array): void {
  writeShortVec(writer, bytes.length);
  writer.bytes(bytes);
}

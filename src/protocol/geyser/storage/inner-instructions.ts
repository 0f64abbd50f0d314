import type { InnerInstruction, InnerInstructions } from '../../../solana/transaction/transaction-meta.ts';
import type { ProtobufReader } from '../protobuf.ts';

const NONE: Uint8Array = new Uint8Array();

function readInnerInstruction(reader: ProtobufReader): InnerInstruction {
  let programIdIndex = 0;
  let [accounts, data] = [NONE, NONE];
  let stackHeight: number | null = null;
  while (reader.next()) {
    if (reader.field === 1) programIdIndex = reader.u8();
    else if (reader.field === 2) accounts = reader.bytes();
    else if (reader.field === 3) data = reader.bytes();
    else if (reader.field === 4) stackHeight = reader.uint32();
    else reader.skipField();
  }
  return { programIdIndex, accounts, data, stackHeight };
}

/** Reads `InnerInstructions`. */
export function readInnerInstructions(reader: ProtobufReader): InnerInstructions {
  let index = 0;
  const instructions: InnerInstruction[] = [];
  while (reader.next()) {
    if (reader.field === 1) index = reader.u8();
    else if (reader.field === 2) instructions.push(readInnerInstruction(reader.message()));
    else reader.skipField();
  }
  return { index, instructions };
}

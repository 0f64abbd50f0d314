import { type Slot, slot as slotOf } from '../../../solana/units.ts';
import { readSlot } from '../fields.ts';
import { InvalidProtobuf, type ProtobufReader } from '../protobuf.ts';

/** Indexed by enum value. Source: geyser.proto, `SlotStatus`. */
export const slotStatuses = [
  'processed',
  'confirmed',
  'finalized',
  'firstShredReceived',
  'completed',
  'createdBank',
  'dead',
] as const;
export type SlotStatus = (typeof slotStatuses)[number];

export type SlotUpdate = Readonly<{
  kind: 'slot';
  slot: Slot;
  parent: Slot | null;
  status: SlotStatus;
  deadError: string | null;
}>;

function statusOf(number: number): SlotStatus {
  const status = slotStatuses[number];
  if (status === undefined) throw new InvalidProtobuf(`unknown slot status ${number}`);
  return status;
}

export function readSlotUpdate(reader: ProtobufReader): SlotUpdate {
  let slot = slotOf(0);
  let parent: Slot | null = null;
  let status: SlotStatus = 'processed';
  let deadError: string | null = null;
  while (reader.next()) {
    if (reader.field === 1) slot = readSlot(reader);
    else if (reader.field === 2) parent = readSlot(reader);
    else if (reader.field === 3) status = statusOf(reader.uint32());
    else if (reader.field === 4) deadError = reader.string();
    else reader.skipField();
  }
  return { kind: 'slot', slot, parent, status, deadError };
}

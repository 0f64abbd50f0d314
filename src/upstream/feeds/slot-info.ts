import { parseJson } from '../../base/json.ts';
import { type Slot, slot } from '../../solana/units.ts';

/** What a slotNotification tells. Source: Agave rpc-client-api `SlotInfo`. */
export type SlotInfo = Readonly<{ slot: Slot; parent: Slot; root: Slot }>;

const isSlot = (value: unknown): value is number | bigint =>
  (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) ||
  (typeof value === 'bigint' && value >= 0n);

/** The raw result of a slotNotification; null when it is something else. */
export function readSlotInfo(result: Buffer): SlotInfo | null {
  const info = parseJson(result.toString('utf8'));
  if (info === null || typeof info !== 'object' || Array.isArray(info)) return null;
  const { parent, root } = info;
  if (!isSlot(info.slot) || !isSlot(parent) || !isSlot(root)) return null;
  return { slot: slot(info.slot), parent: slot(parent), root: slot(root) };
}

/** The same as a node writes it. */
export const slotInfoJson = ({ slot, parent, root }: SlotInfo): Buffer =>
  Buffer.from(`{"slot":${slot},"parent":${parent},"root":${root}}`);

import { type Address, addressFromBytes } from '../../solana/address.ts';

/** Programs that own accounts are few, so the texts of their addresses are made once. */
const KNOWN_MAX = 4096;
const known = new Map<string, Address>();

/** The address of 32 bytes that are likely to have been seen before. */
export function ownerAddress(bytes: Uint8Array): Address {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  const found = known.get(raw);
  if (found !== undefined) return found;
  if (known.size >= KNOWN_MAX) known.clear();
  const owner = addressFromBytes(bytes);
  known.set(raw, owner);
  return owner;
}

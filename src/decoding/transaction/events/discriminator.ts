import { createHash } from 'node:crypto';

/** Bytes before an instruction's arguments or an event's members that say what they are. */
export const DISCRIMINATOR_BYTES = 8;

const discriminator = (preimage: string): string =>
  createHash('sha256').update(preimage).digest().subarray(0, DISCRIMINATOR_BYTES).toString('hex');

/** How Anchor marks an event, in hex. @param name - as the program has it, `TradeEvent`. */
export const eventDiscriminator = (name: string): string => discriminator(`event:${name}`);

/** How Anchor marks an instruction, in hex. @param name - as the program has it, `swap_v2`. */
export const instructionDiscriminator = (name: string): string => discriminator(`global:${name}`);

/** What `emit_cpi!` sends ahead of an event, in hex. Source: anchor-lang, `EVENT_IX_TAG_LE`. */
export const EVENT_CALL = 'e445a52e51cb9a1d';

/** The first bytes in hex; fewer where there are fewer. */
export const leadingHex = (data: Uint8Array, bytes: number = DISCRIMINATOR_BYTES): string =>
  Buffer.from(data.buffer, data.byteOffset, Math.min(bytes, data.length)).toString('hex');

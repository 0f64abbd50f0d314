import type { Call } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { type Slot, slot as slotOf, U64_MAX } from '../../solana/units.ts';

/** The context stands first in what Agave writes, with a version before the slot. */
const HEAD = Buffer.from('{"context":{"slot":');
const HEAD_BYTES = 128;
const CONTEXT_SLOT = /^\{\s*"context"\s*:\s*\{[^{}]*"slot"\s*:\s*(\d{1,20})[\s,}]/;

const COMMITMENT = Buffer.from('"commitment"');
const MIN_CONTEXT_SLOT = Buffer.from('"minContextSlot"');
const FIRST_SLOT = /^\s*\[\s*(\d{1,20})\s*[,\]]/;
/** White space, a colon and a value that is short. */
const VALUE_BYTES = 48;
const WORD_VALUE = /^\s*:\s*"([a-z]+)"/;
const NUMBER_VALUE = /^\s*:\s*(\d{1,20})\s*[,}]/;

const isU64 = (value: bigint): boolean => value <= U64_MAX;

function u64(digits: string | undefined): bigint | null {
  if (digits === undefined) return null;
  const value = BigInt(digits);
  return isU64(value) ? value : null;
}

/** The same as most nodes write it, with the slot first: read without making a text of it. */
function firstContextSlot(result: Buffer): Slot | null {
  if (result.length < HEAD.length || result.compare(HEAD, 0, HEAD.length, 0, HEAD.length) !== 0) return null;
  let value = 0;
  let at = HEAD.length;
  for (; at < HEAD.length + 15; at++) {
    const digit = (result[at] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  const next = result[at];
  return at > HEAD.length && (next === 0x7d || next === 0x2c) ? slotOf(value) : null;
}

/** The slot of the context that a result begins with; null where it begins otherwise. */
export function leadingContextSlot(result: Buffer): Slot | null {
  const first = firstContextSlot(result);
  if (first !== null) return first;
  const value = u64(CONTEXT_SLOT.exec(result.toString('latin1', 0, HEAD_BYTES))?.[1]);
  return value === null ? null : slotOf(value);
}

/** What stands behind the first place where the name occurs; it is looked for as bytes, not as a member. */
function textAfter(params: Buffer, name: Buffer): string | null {
  const at = params.indexOf(name);
  if (at < 0) return null;
  const from = at + name.length;
  return params.toString('latin1', from, from + VALUE_BYTES);
}

/**
 * The commitment that a call asks for, as most are written: `finalized` where it names none, as nodes take it. Only to
 * choose by who answers this call: what is learned for others goes by what the params mean (`certainCommitment`).
 */
export function commitmentOf({ row, params }: Call): Commitment {
  // What takes no commitment is answered from the newest state there is.
  if (row.commitment === null) return 'processed';
  const text = params === null ? null : textAfter(params, COMMITMENT);
  const value = text === null ? undefined : WORD_VALUE.exec(text)?.[1];
  return value === 'processed' || value === 'confirmed' ? value : 'finalized';
}

/** The slot that whoever answers must have come to; null where the call names none. */
export function minContextSlotOf({ row, params }: Call): bigint | null {
  if (row.config === null || params === null) return null;
  const text = textAfter(params, MIN_CONTEXT_SLOT);
  return text === null ? null : u64(NUMBER_VALUE.exec(text)?.[1]);
}

/** The slot that is the first of the parameters; null where they begin otherwise. */
export function firstSlotOf(params: Buffer | null): bigint | null {
  return params === null ? null : u64(FIRST_SLOT.exec(params.toString('latin1', 0, VALUE_BYTES))?.[1]);
}

import type { ByteReader } from '../../../base/bytes.ts';
import { type Address, addressFromBytes } from '../../../solana/address.ts';
import type { ExecutedTransaction } from '../executed-transaction.ts';
import type { ExecutedInstruction } from '../instruction.ts';
import { optional } from './instruction-layout.ts';
import { type Currency, currencyOf } from './price.ts';
import { selfCall } from './program-logs.ts';

/** What Tensor's marketplace tells of an offer that was made or taken. */
export type TensorEvent = Readonly<{
  /** Base units of `currency`. */
  amount: bigint;
  currency: Currency;
  /** The NFT; null for an offer on a whole collection. */
  asset: Address | null;
}>;

const MAKER = 0;
const TAKER = 1;

/** An address. */
export const key = (args: ByteReader): Address => addressFromBytes(args.bytes(32));

/** Behind the variant. Source: tensor-foundation/marketplace 153c22c, program/src/event.rs. */
function readEvent(event: ByteReader): TensorEvent | null {
  const variant = event.u8();
  if (variant !== MAKER && variant !== TAKER) return null;
  // Who.
  event.skipBytes(32);
  // The bid, where it is about one.
  optional(event, key);
  // The target and its id; field and id of what is narrower.
  event.skipBytes(1 + 32);
  optional(event, (some) => some.u8());
  optional(event, key);
  const amount = event.u64();
  // How many.
  event.skipBytes(4);
  // Fees of the protocol, both brokers and the creators.
  if (variant === TAKER) event.skipBytes(4 * 8);
  const currency = currencyOf(optional(event, key));
  if (variant === MAKER) {
    // When it expires, and for whom alone it is.
    event.skipBytes(8);
    optional(event, key);
  }
  return { amount, currency, asset: optional(event, key) };
}

/** What the marketplace told of this instruction by calling itself; null where the transaction does not have it. */
export const tensorEventOf = (
  instruction: ExecutedInstruction,
  transaction: ExecutedTransaction,
): TensorEvent | null => selfCall(instruction, transaction, 'tcomp_noop', readEvent);

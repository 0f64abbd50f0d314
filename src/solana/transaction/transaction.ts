import type { Message } from '../message/message.ts';
import type { Signature } from '../signature.ts';

/** A decoded transaction together with the bytes it came from. Source: solana-transaction, `VersionedTransaction`. */
export type Transaction = Readonly<{
  signatures: readonly Signature[];
  message: Message;
  /** The signed part of `wire`: a view, not a copy. */
  messageBytes: Uint8Array;
  /** The whole transaction as it stood on the wire. */
  wire: Uint8Array;
}>;

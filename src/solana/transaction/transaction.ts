import type { Message } from '../message/message.ts';
import type { Signature } from '../signature.ts';

/** Source: solana-transaction, `VersionedTransaction`. */
export type Transaction = Readonly<{
  signatures: readonly Signature[];
  message: Message;
  /** Signed part of `wire`, a view. */
  messageBytes: Uint8Array;
  wire: Uint8Array;
}>;

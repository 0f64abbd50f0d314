import type { Message } from '../message/message.ts';
import type { Signature } from '../signature.ts';

/** Source: solana-transaction, `VersionedTransaction`. */
export type Transaction = Readonly<{
  signatures: readonly Signature[];
  message: Message;
  /** View of the signed part of `wire`. */
  messageBytes: Uint8Array;
  wire: Uint8Array;
}>;

import { readDeshredUpdate } from '../../../src/protocol/geyser/read-deshred-update.ts';
import { readRawUpdate } from '../../../src/protocol/geyser/read-raw-update.ts';
import { signatureFromBytes } from '../../../src/solana/signature.ts';

/** The signature in a message of `Subscribe`; null without a transaction. */
export function updateSignature(message: Buffer): string | null {
  const update = readRawUpdate(message, Date.now());
  return update?.kind === 'transaction' ? signatureFromBytes(update.signature) : null;
}

/** The same of `SubscribeDeshred`. */
export function deshredSignature(message: Buffer): string | null {
  const { update } = readDeshredUpdate(message);
  return update?.kind === 'transaction' ? signatureFromBytes(update.signature) : null;
}

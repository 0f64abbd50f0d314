import type { Chain } from '../../decoding/chain/chain.ts';
import { Failure } from '../../protocol/errors.ts';
import { nodeErrorRow } from '../../protocol/node-errors.ts';
import { NodeRejection } from '../../protocol/rest/node-rejection.ts';
import { decodeBase64 } from '../../protocol/rpc/base64-text.ts';
import type { Blockhash } from '../../solana/blockhash.ts';
import { stringOf } from '../../solana/encoding/read-json.ts';
import { nonceOfTransaction } from '../../solana/nonce.ts';
import { type Signature, signatureFromBytes } from '../../solana/signature.ts';
import { decodeTransaction } from '../../solana/transaction/decode-transaction.ts';
import { readWireTransaction } from '../../solana/transaction/wire-transaction.ts';
import { checked } from '../fields.ts';

/** Maximum base64 length of a version 1 transaction. Source: Agave rpc/src/rpc.rs. */
const TEXT_MAX = 5_464;

export type SignedTransaction = Readonly<{
  text: string;
  signature: Signature;
  /** null for a durable nonce, and for transactions that cannot be decoded. */
  blockhash: Blockhash | null;
}>;

function blockhashOf(bytes: Uint8Array): Blockhash | null {
  const decoded = decodeTransaction(bytes);
  if ('fault' in decoded) return null;
  const { message } = decoded.transaction;
  return nonceOfTransaction(message) === null ? message.recentBlockhash : null;
}

function readSignedTransaction(text: unknown): SignedTransaction | null {
  if (typeof text !== 'string' || text.length > TEXT_MAX) return null;
  const decoded = decodeBase64(text);
  const wire = 'fault' in decoded ? null : readWireTransaction(decoded.bytes);
  if (wire === null) return null;
  return { text, signature: signatureFromBytes(wire.signature), blockhash: blockhashOf(wire.bytes) };
}

export const signedTransaction = (description: string) =>
  checked<unknown>(
    (input) => readSignedTransaction(input) !== null,
    'is missing: send a signed transaction in base64',
    'must be a complete signed transaction in base64',
  )
    .transform((input) => readSignedTransaction(input) as SignedTransaction)
    .meta({ type: 'string', maxLength: TEXT_MAX, contentEncoding: 'base64', description });

/** Whether it is certain that no node has received the transaction. */
export const isUnsubmitted = ({ facts }: Failure): boolean =>
  typeof facts?.network === 'string' && facts.outcome !== 'unknown';

/**
 * Sends the transaction with preflight at `processed`, where blockhashes of every commitment are known.
 * @throws NodeRejection TRANSACTION_REFUSED if the node rejects the transaction; otherwise another Failure, whose
 * `facts` include `outcome: 'unknown'` and the signature if a node may have received the transaction.
 */
export async function sendTransaction(chain: Chain, { text, signature }: SignedTransaction): Promise<void> {
  const config = { encoding: 'base64', preflightCommitment: 'processed' };
  try {
    await chain.read('sendTransaction', [text, config], (result) => stringOf(result, 'a signature'));
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    if (!(thrown instanceof NodeRejection))
      throw isUnsubmitted(thrown) ? thrown : withUnknownOutcome(thrown, signature);
    if (nodeErrorRow(thrown.error.code).rule !== 'accept') throw thrown;
    throw new NodeRejection(thrown.error, 'TRANSACTION_REFUSED');
  }
}

function withUnknownOutcome(failure: Failure, signature: Signature): Failure {
  const facts = { ...failure.facts, outcome: 'unknown', signature };
  return new Failure(failure.code, { facts, cause: failure, retryAfter: failure.retryAfter ?? null });
}

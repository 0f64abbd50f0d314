import { decodeMessage } from '../../ledger/message/decode-message.ts';
import type { Message } from '../../ledger/message/message.ts';
import { decodeTransaction, TRANSACTION_MAX_BYTES } from '../../ledger/transaction/decode-transaction.ts';
import type { Transaction } from '../../ledger/transaction/transaction.ts';
import { decodeBase58Text } from '../../protocol/rpc/base58-text.ts';
import { decodeBase64 } from '../../protocol/rpc/base64-text.ts';
import type { WireEncoding } from '../../protocol/rpc/transaction-encoding.ts';
import { invalidParams } from '../../protocol/rpc-error.ts';

/** Longest text in which 1,232 bytes can come. Source: Agave rpc/src/rpc.rs, `MAX_BASE58_SIZE`. */
const TEXT_MAX: Readonly<Record<WireEncoding, number>> = { base58: 1683, base64: 1644 };

/** Names of the Rust types, which stand in error texts. */
const TRANSACTION_TYPE = 'solana_transaction::versioned::VersionedTransaction';
const MESSAGE_TYPE = 'solana_message::versions::VersionedMessage';

/** The bytes of what was sent. Source: Agave rpc/src/rpc.rs, `decode_and_deserialize`. */
function decodeText(text: string, encoding: WireEncoding, type: string): Uint8Array {
  const length = Buffer.byteLength(text);
  if (length > TEXT_MAX[encoding]) {
    const limits = `${TEXT_MAX[encoding]}/${TRANSACTION_MAX_BYTES}`;
    throw invalidParams(
      `${encoding} encoded ${type} too large: ${length} bytes (max: encoded/raw ${limits})`,
    );
  }
  const decoded = encoding === 'base58' ? decodeBase58Text(text) : decodeBase64(text);
  if ('fault' in decoded) throw invalidParams(`invalid ${encoding} encoding: ${decoded.fault}`);
  const { bytes } = decoded;
  if (bytes.length > TRANSACTION_MAX_BYTES) {
    throw invalidParams(
      `decoded ${type} too large: ${bytes.length} bytes (max: ${TRANSACTION_MAX_BYTES} bytes)`,
    );
  }
  return bytes;
}

/** A transaction as it was sent; bytes after its end are passed over by JSON-RPC, but by no leader. */
export type SentTransaction = Readonly<{ transaction: Transaction; hasTail: boolean }>;

/**
 * The transaction in a text. It is not sanitized yet.
 * @throws RpcError -32602 with Agave's words.
 */
export function decodeTransactionText(text: string, encoding: WireEncoding): SentTransaction {
  const bytes = decodeText(text, encoding, TRANSACTION_TYPE);
  const decoded = decodeTransaction(bytes, 'ignored');
  if ('fault' in decoded) throw invalidParams(`failed to deserialize ${TRANSACTION_TYPE}: ${decoded.fault}`);
  const { transaction } = decoded;
  return { transaction, hasTail: transaction.wire.length < bytes.length };
}

/**
 * The message in a base64 text. It is not sanitized yet.
 * @throws RpcError -32602 with Agave's words.
 */
export function decodeMessageText(text: string): Message {
  const decoded = decodeMessage(decodeText(text, 'base64', MESSAGE_TYPE), 'ignored');
  if ('fault' in decoded) throw invalidParams(`failed to deserialize ${MESSAGE_TYPE}: ${decoded.fault}`);
  return decoded.message;
}

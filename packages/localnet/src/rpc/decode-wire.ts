import { decodeBase58Text } from '../../../../src/protocol/rpc/base58-text.ts';
import { decodeBase64 } from '../../../../src/protocol/rpc/base64-text.ts';
import type { BinaryEncoding } from '../../../../src/protocol/rpc/transaction-encoding.ts';
import { invalidParams } from '../../../../src/protocol/rpc-error.ts';
import { resolveLookups } from '../../../../src/solana/address-lookup-table.ts';
import { decodeMessage, type LoadedAddresses, type Message } from '../../../../src/solana/message/message.ts';
import { computeBudgetOf } from '../../../../src/solana/transaction/compute-budget.ts';
import {
  decodeTransaction,
  TRANSACTION_MAX_BYTES,
  VERSION_1_MAX_BYTES,
} from '../../../../src/solana/transaction/decode-transaction.ts';
import { sanitizeTransaction } from '../../../../src/solana/transaction/sanitize-transaction.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import {
  displayTransactionError,
  type TransactionError,
} from '../../../../src/solana/transaction/transaction-error.ts';
import type { Bank } from '../node.ts';

type Limits = Readonly<{ text: number; bytes: number }>;

/** Maximum text lengths. Source: Agave rpc/src/rpc.rs, `MAX_BASE58_SIZE` and related. */
const BASE58: Limits = { text: 1683, bytes: TRANSACTION_MAX_BYTES };
const BASE64: Limits = { text: 1644, bytes: TRANSACTION_MAX_BYTES };
const BASE64_VERSION_1: Limits = { text: 5464, bytes: VERSION_1_MAX_BYTES };
/** First two characters of version 1, from its first byte, 0x81. */
const VERSION_1_TEXT = Buffer.from('gQ');

function limitsOf(text: Buffer, encoding: BinaryEncoding): Limits {
  if (encoding === 'base58') return BASE58;
  const isLater = text.length >= 2 && text.compare(VERSION_1_TEXT, 0, 2, 0, 2) >= 0;
  return isLater ? BASE64_VERSION_1 : BASE64;
}

/** Rust type names in error texts. */
const TRANSACTION_TYPE = 'solana_transaction::versioned::VersionedTransaction';
const MESSAGE_TYPE = 'solana_message::versions::VersionedMessage';

/** Source: Agave rpc/src/rpc.rs, `decode_and_deserialize`. */
function decodeText(text: string, encoding: BinaryEncoding, type: string): Uint8Array {
  const raw = Buffer.from(text);
  const limits = limitsOf(raw, encoding);
  if (raw.length > limits.text) {
    throw invalidParams(
      `${encoding} encoded ${type} too large: ${raw.length} bytes (max: encoded/raw ${limits.text}/${limits.bytes})`,
    );
  }
  const decoded = encoding === 'base58' ? decodeBase58Text(text) : decodeBase64(text);
  if ('fault' in decoded) throw invalidParams(`invalid ${encoding} encoding: ${decoded.fault}`);
  const { bytes } = decoded;
  if (bytes.length > limits.bytes) {
    throw invalidParams(`decoded ${type} too large: ${bytes.length} bytes (max: ${limits.bytes} bytes)`);
  }
  return bytes;
}

/** `hasTail`: trailing bytes, which JSON-RPC ignores but a leader rejects. */
export type SentTransaction = Readonly<{ transaction: Transaction; hasTail: boolean }>;

/**
 * The result is not sanitized.
 * @throws RpcError -32602 with Agave's text.
 */
export function decodeTransactionText(text: string, encoding: BinaryEncoding): SentTransaction {
  const bytes = decodeText(text, encoding, TRANSACTION_TYPE);
  const decoded = decodeTransaction(bytes, 'ignored');
  if ('fault' in decoded) throw invalidParams(`failed to deserialize ${TRANSACTION_TYPE}: ${decoded.fault}`);
  const { transaction } = decoded;
  return { transaction, hasTail: transaction.wire.length < bytes.length };
}

/**
 * The result is not sanitized.
 * @throws RpcError -32602 with Agave's text.
 */
export function decodeMessageText(text: string): Message {
  const decoded = decodeMessage(decodeText(text, 'base64', MESSAGE_TYPE), 'ignored');
  if ('fault' in decoded) throw invalidParams(`failed to deserialize ${MESSAGE_TYPE}: ${decoded.fault}`);
  return decoded.message;
}

/** Error for a duplicate compute budget instruction, which Agave checks first. */
function repeatedBudgetRequest(message: Message): TransactionError | null {
  const budget = computeBudgetOf(message);
  if (!('fault' in budget)) return null;
  return typeof budget.fault === 'object' && 'DuplicateInstruction' in budget.fault ? budget.fault : null;
}

/**
 * Sanitizes a transaction and resolves its lookups.
 * @returns the loaded addresses.
 * @throws RpcError -32602 "invalid transaction: …". Source: Agave rpc/src/rpc.rs, `sanitize_transaction`.
 */
export function requireSanitized(transaction: Transaction, bank: Bank): LoadedAddresses {
  const fault = sanitizeTransaction(transaction);
  if (fault !== null) throw invalidParams(`invalid transaction: ${fault}`);
  const repeated = repeatedBudgetRequest(transaction.message);
  if (repeated !== null) throw invalidParams(`invalid transaction: ${displayTransactionError(repeated)}`);
  const resolved = resolveLookups(transaction.message, (address) => bank.account(address), bank.slot);
  if ('fault' in resolved) {
    throw invalidParams(`invalid transaction: ${displayTransactionError(resolved.fault)}`);
  }
  return resolved.loaded;
}

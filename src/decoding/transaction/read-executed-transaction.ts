import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import type { JsonMembers } from '../../solana/encoding/read-json.ts';
import { encodeRawInstruction } from '../../solana/encoding/ui-instruction.ts';
import { decodeTransaction } from '../../solana/transaction/decode-transaction.ts';
import { addressOf, amountOf, isShallow, itemsOf, membersOf, naturalOf, wholeOf } from '../lenient-json.ts';
import type { ExecutedTransaction } from './executed-transaction.ts';
import { flattenInstructions } from './flatten-instructions.ts';
import { collectTokens } from './token-accounts.ts';

/** Fixed limits at or above those of the runtime and nodes: valid transactions never reach them. */

/** Base64 characters of a wire transaction. Source: `TRANSACTION_MAX_BYTES`. */
const WIRE_TEXT_MAX = 1644;
const KEYS_MAX = 256;
/** Source: Agave, `log_messages_bytes_limit`, 10,000 bytes. */
const LOGS_MAX = 5_000;
/** Nesting depth. */
const DEPTH_MAX = 64;

/** Message independent of its encoding. */
type SentMessage = Readonly<{
  signatures: readonly string[];
  keys: readonly Address[];
  signers: readonly Address[];
  instructions: readonly JsonValue[];
}>;

const keyOf = (key: JsonValue): Address | null =>
  addressOf(typeof key === 'string' ? key : membersOf(key).pubkey);

/** Stops at the first invalid key: later ones would shift position. */
function keysOf(list: JsonValue | undefined): Address[] {
  const keys: Address[] = [];
  for (const item of itemsOf(list, KEYS_MAX)) {
    const key = keyOf(item);
    if (key === null) break;
    keys.push(key);
  }
  return keys;
}

/** jsonParsed already lists loaded keys among the account keys. */
function loadedKeys(meta: JsonMembers): Address[] {
  const { writable, readonly } = membersOf(meta.loadedAddresses);
  return [...keysOf(writable), ...keysOf(readonly)];
}

function signersOf(message: JsonMembers, keys: readonly Address[]): readonly Address[] {
  const items = itemsOf(message.accountKeys);
  if (typeof items[0] === 'string') {
    const count = naturalOf(membersOf(message.header).numRequiredSignatures, KEYS_MAX) ?? 1;
    return keys.slice(0, Math.max(1, count));
  }
  return keys.filter((_, at) => at === 0 || membersOf(items[at]).signer === true);
}

function readJsonMessage(transaction: JsonMembers, meta: JsonMembers): SentMessage {
  const message = membersOf(transaction.message);
  const own = keysOf(message.accountKeys);
  const parsed = typeof itemsOf(message.accountKeys)[0] !== 'string';
  return {
    signatures: itemsOf(transaction.signatures).filter((one) => typeof one === 'string'),
    keys: parsed ? own : [...own, ...loadedKeys(meta)],
    signers: signersOf(message, own),
    instructions: itemsOf(message.instructions),
  };
}

function readWireMessage(text: string, meta: JsonMembers): SentMessage | null {
  if (text.length > WIRE_TEXT_MAX) return null;
  const decoded = decodeTransaction(Buffer.from(text, 'base64'));
  if ('fault' in decoded) return null;
  const { signatures, message } = decoded.transaction;
  return {
    signatures,
    keys: [...message.accountKeys, ...loadedKeys(meta)],
    signers: message.accountKeys.slice(0, message.header.numRequiredSignatures),
    instructions: message.instructions.map((one) => encodeRawInstruction(one, 1) as JsonValue),
  };
}

function readMessage(transaction: JsonValue | undefined, meta: JsonMembers): SentMessage | null {
  const [text] = itemsOf(transaction);
  if (text !== undefined) return typeof text === 'string' ? readWireMessage(text, meta) : null;
  return readJsonMessage(membersOf(transaction), meta);
}

const balancesOf = (list: JsonValue | undefined): bigint[] =>
  itemsOf(list).map((balance) => amountOf(balance) ?? 0n);

/**
 * Decodes a getTransaction result in `json`, `jsonParsed` or `base64`. The input is untrusted: missing or
 * malformed members are left out.
 * @param result - from `parseJson`, so that u64 values are exact.
 * @returns null without a signature or fee payer, or when nested too deeply.
 */
export function readExecutedTransaction(result: JsonValue): ExecutedTransaction | null {
  if (!isShallow(result, DEPTH_MAX)) return null;
  const { slot, blockTime, transaction, meta: rawMeta } = membersOf(result);
  const meta = membersOf(rawMeta);
  const message = readMessage(transaction, meta);
  const feePayer = message?.keys[0];
  if (message === null || feePayer === undefined || message.signatures.length === 0) return null;
  const { keys, signers, signatures } = message;
  const instructions = flattenInstructions(message.instructions, meta.innerInstructions, keys);
  return {
    ...{ slot: amountOf(slot) ?? 0n, blockTime: wholeOf(blockTime), signatures, feePayer, signers },
    ...{ fee: amountOf(meta.fee) ?? 0n, err: meta.err ?? null, accountKeys: keys, instructions },
    ...{ preBalances: balancesOf(meta.preBalances), postBalances: balancesOf(meta.postBalances) },
    logs: itemsOf(meta.logMessages, LOGS_MAX).filter((line) => typeof line === 'string'),
    ...collectTokens(meta, keys, instructions),
  };
}

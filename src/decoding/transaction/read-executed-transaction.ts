import { type JsonValue, parseJson, writeJson } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import { decodeBase58 } from '../../solana/base58.ts';
import type { JsonMembers } from '../../solana/encoding/read-json.ts';
import { encodeRawInstruction } from '../../solana/encoding/ui-instruction.ts';
import { parseInstruction } from '../../solana/parsed/parse-instruction.ts';
import { decodeTransaction } from '../../solana/transaction/decode-transaction.ts';
import { addressOf, countOf, integerOf, isNestedAtMost, itemsOf, membersOf, u64Of } from '../lenient-json.ts';
import type { ExecutedInstruction, ExecutedTransaction, ParsedView } from './executed-transaction.ts';
import { collectTokens } from './token-accounts.ts';

// Limits per transaction, at least as high as those of the runtime and nodes: no valid transaction exceeds them.

/** Far above Agave's `MAX_INSTRUCTION_TRACE_LENGTH`, 64. */
const INSTRUCTIONS_MAX = 1_000;
/** An account index is a u8. */
const ACCOUNTS_MAX = 256;
/** Above Agave's `MAX_INSTRUCTION_STACK_DEPTH`, which is 5 or 9. */
const HEIGHT_MAX = 255;
/** Base58 characters to decode per transaction, nine times the longest instruction data. Further data is empty. */
const DATA_TEXT_MAX = 131_072;
/** Base64 characters in a wire transaction. Source: `VERSION_1_MAX_BYTES`. */
const WIRE_TEXT_MAX = 5464;
const KEYS_MAX = 256;
/** Lines. Agave's `log_messages_bytes_limit` is 10,000 bytes. */
const LOGS_MAX = 5_000;
const DEPTH_MAX = 64;

const NO_DATA = new Uint8Array(0);

type LazyData = () => Uint8Array | null;

type InstructionFields = Pick<ExecutedInstruction, 'program' | 'accounts' | 'parsed'> &
  Readonly<{ readData: LazyData }>;

function viewOf(parsed: JsonValue): ParsedView | null {
  if (typeof parsed === 'string') return { type: 'memo', info: { memo: parsed } };
  const { type, info } = membersOf(parsed);
  return typeof type === 'string' ? { type, info: membersOf(info ?? {}) } : null;
}

class DataOfTransaction {
  #remaining = DATA_TEXT_MAX;

  #decode(text: string): Uint8Array | null {
    if (text.length > this.#remaining) return null;
    this.#remaining -= text.length;
    return decodeBase58(text);
  }

  of(text: JsonValue | undefined): LazyData {
    let data: Uint8Array | null | undefined = typeof text === 'string' ? undefined : null;
    return () => {
      if (data === undefined) data = this.#decode(text as string);
      return data;
    };
  }
}

function parseLocally(program: Address, accounts: readonly Address[], readData: LazyData): ParsedView | null {
  let bytes: Uint8Array | null = null;
  const compiled = {
    programIdIndex: 0,
    accounts: Uint8Array.from(accounts.keys()),
    // A getter, so that data is decoded only for supported programs.
    get data() {
      bytes = readData();
      return bytes ?? NO_DATA;
    },
  };
  const parsed = parseInstruction(program, compiled, accounts);
  return parsed === null || bytes === null ? null : viewOf(parseJson(writeJson(parsed.parsed)));
}

/** Stops at the first invalid address, because skipping it would shift the positions of later addresses. */
function readAddresses(items: readonly JsonValue[], read: (item: JsonValue) => Address | null): Address[] {
  const addresses: Address[] = [];
  for (const item of items) {
    const address = read(item);
    if (address === null) break;
    addresses.push(address);
  }
  return addresses;
}

function readInstruction(
  raw: JsonMembers,
  keys: readonly Address[],
  data: DataOfTransaction,
): InstructionFields | null {
  const index = countOf(raw.programIdIndex, keys.length - 1);
  const program = index === null ? addressOf(raw.programId) : (keys[index] ?? null);
  if (program === null) return null;
  const parsedView = raw.parsed === undefined ? null : viewOf(raw.parsed);
  const accounts = readAddresses(itemsOf(raw.accounts, ACCOUNTS_MAX), (item) =>
    typeof item === 'number' ? (keys[item] ?? null) : addressOf(item),
  );
  const whole = accounts.length === itemsOf(raw.accounts).length;
  const readData = data.of(raw.data);
  return {
    program,
    accounts,
    readData,
    parsed: parsedView ?? (whole ? parseLocally(program, accounts, readData) : null),
  };
}

const withPosition = (
  position: Omit<ExecutedInstruction, 'program' | 'accounts' | 'data' | 'parsed'>,
  { program, accounts, parsed, readData }: InstructionFields,
): ExecutedInstruction => ({
  ...position,
  ...{ program, accounts, parsed },
  get data() {
    return readData() ?? NO_DATA;
  },
});

class Calls {
  readonly #open: number[] = [];

  /** @returns a null height if the reported stack height is impossible. */
  enter(index: number, stackHeight: JsonValue | undefined): { height: number | null; caller: number } {
    const stated = countOf(stackHeight, HEIGHT_MAX);
    const height = stated !== null && stated >= 2 && stated <= this.#open.length + 1 ? stated : null;
    const depth = (height ?? 2) - 1;
    const caller = this.#open[depth - 1] ?? index;
    this.#open.length = depth;
    this.#open.push(index);
    return { height, caller };
  }

  start(index: number): void {
    this.#open.length = 0;
    this.#open.push(index);
  }
}

/** Lists instructions in execution order. An instruction without a valid program is omitted; its index stays unused. */
function flattenInstructions(
  outers: readonly JsonValue[],
  innerInstructions: JsonValue | undefined,
  keys: readonly Address[],
): ExecutedInstruction[] {
  // Inner instructions by outer index; of duplicate lists, only the first counts.
  const inners = new Map<number, readonly JsonValue[]>();
  for (const item of itemsOf(innerInstructions)) {
    const { index, instructions } = membersOf(item);
    if (typeof index === 'number' && !inners.has(index)) inners.set(index, itemsOf(instructions));
  }
  const flat: ExecutedInstruction[] = [];
  const calls = new Calls();
  const data = new DataOfTransaction();
  let index = 0;
  for (const [outer, raw] of outers.entries()) {
    if (index >= INSTRUCTIONS_MAX) return flat;
    const fields = readInstruction(membersOf(raw), keys, data);
    calls.start(index);
    if (fields !== null)
      flat.push(withPosition({ index, outer, height: 1, parentProgram: null, caller: null }, fields));
    index++;
    for (const one of inners.get(outer) ?? []) {
      if (index >= INSTRUCTIONS_MAX) return flat;
      const inner = readInstruction(membersOf(one), keys, data);
      const call = calls.enter(index, membersOf(one).stackHeight);
      const parentProgram = fields?.program ?? null;
      if (inner !== null) flat.push(withPosition({ index, outer, ...call, parentProgram }, inner));
      index++;
    }
  }
  return flat;
}

type SentMessage = Readonly<{
  signatures: readonly string[];
  keys: readonly Address[];
  signers: readonly Address[];
  instructions: readonly JsonValue[];
}>;

const keysOf = (list: JsonValue | undefined): Address[] =>
  readAddresses(itemsOf(list, KEYS_MAX), (item) =>
    addressOf(typeof item === 'string' ? item : membersOf(item).pubkey),
  );

/** Not needed for jsonParsed, which already lists loaded keys among the account keys. */
function loadedKeys(meta: JsonMembers): Address[] {
  const { writable, readonly } = membersOf(meta.loadedAddresses);
  return [...keysOf(writable), ...keysOf(readonly)];
}

function signersOf(message: JsonMembers, keys: readonly Address[]): readonly Address[] {
  const items = itemsOf(message.accountKeys);
  if (typeof items[0] === 'string') {
    const count = countOf(membersOf(message.header).numRequiredSignatures, KEYS_MAX) ?? 1;
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
  itemsOf(list).map((balance) => u64Of(balance) ?? 0n);

/**
 * Decodes a getTransaction result in `json`, `jsonParsed` or `base64`; malformed members are left out.
 * @param result - untrusted; must come from `parseJson`, so that u64 values are exact.
 * @returns null if there is no signature or fee payer, or if the result is nested too deeply.
 */
export function readExecutedTransaction(result: JsonValue): ExecutedTransaction | null {
  if (!isNestedAtMost(result, DEPTH_MAX)) return null;
  const { blockTime, transaction, meta: rawMeta } = membersOf(result);
  const meta = membersOf(rawMeta);
  const message = readMessage(transaction, meta);
  const feePayer = message?.keys[0];
  if (message === null || feePayer === undefined || message.signatures.length === 0) return null;
  const { keys, signers, signatures } = message;
  const instructions = flattenInstructions(message.instructions, meta.innerInstructions, keys);
  return {
    ...{ blockTime: integerOf(blockTime), signatures, feePayer, signers },
    ...{ fee: u64Of(meta.fee) ?? 0n, err: meta.err ?? null, accountKeys: keys, instructions },
    ...{ preBalances: balancesOf(meta.preBalances), postBalances: balancesOf(meta.postBalances) },
    logs: itemsOf(meta.logMessages, LOGS_MAX).filter((line) => typeof line === 'string'),
    ...collectTokens(meta, keys, instructions),
  };
}

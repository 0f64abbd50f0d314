import { type JsonValue, parseJson, writeJson } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import { decodeBase58 } from '../../solana/base58.ts';
import type { JsonMembers } from '../../solana/encoding/read-json.ts';
import { parseInstruction } from '../../solana/parsed/parse-instruction.ts';
import { addressOf, itemsOf, membersOf, naturalOf } from '../lenient-json.ts';
import type { ExecutedInstruction, ParsedView } from './executed-transaction.ts';

/** Fixed limits of one transaction. */

/**
 * Instructions per transaction, far above the runtime's limit. Source: Agave,
 * `MAX_INSTRUCTION_TRACE_LENGTH`, 64.
 */
const INSTRUCTIONS_MAX = 1_000;
/** Accounts per instruction; indexes are a u8. */
const ACCOUNTS_MAX = 256;
/** Source: Agave, `MAX_INSTRUCTION_STACK_DEPTH`, 5 or 9. */
const HEIGHT_MAX = 255;
/**
 * Base58 characters decoded per transaction, ten times the longest data, because decoding is slow. Data
 * beyond counts as empty.
 */
const DATA_TEXT_MAX = 131_072;
const NO_DATA = new Uint8Array(0);

/** Lazily decoded data. */
type LateData = () => Uint8Array | null;

type InstructionFields = Pick<ExecutedInstruction, 'program' | 'accounts' | 'parsed'> &
  Readonly<{ late: LateData }>;

function viewOf(parsed: JsonValue): ParsedView | null {
  if (typeof parsed === 'string') return { type: 'memo', info: { memo: parsed } };
  const { type, info } = membersOf(parsed);
  return typeof type === 'string' ? { type, info: membersOf(info ?? {}) } : null;
}

/** Accounts by index or name. Stops at the first invalid one: later ones would shift position. */
function accountsOf(list: JsonValue | undefined, keys: readonly Address[]): Address[] {
  const accounts: Address[] = [];
  for (const item of itemsOf(list, ACCOUNTS_MAX)) {
    const account = typeof item === 'number' ? keys[item] : addressOf(item);
    if (account === undefined || account === null) break;
    accounts.push(account);
  }
  return accounts;
}

/** Decodes instruction data within `DATA_TEXT_MAX`. */
class DataOfTransaction {
  #remaining = DATA_TEXT_MAX;

  #decode(text: string): Uint8Array | null {
    if (text.length > this.#remaining) return null;
    this.#remaining -= text.length;
    return decodeBase58(text);
  }

  of(text: JsonValue | undefined): LateData {
    let data: Uint8Array | null | undefined = typeof text === 'string' ? undefined : null;
    return () => {
      if (data === undefined) data = this.#decode(text as string);
      return data;
    };
  }
}

function ownView(program: Address, accounts: readonly Address[], late: LateData): ParsedView | null {
  let isWhole = true;
  const compiled = {
    programIdIndex: 0,
    accounts: Uint8Array.from(accounts.keys()),
    // Read only for supported programs.
    get data() {
      const data = late();
      isWhole = data !== null;
      return data ?? NO_DATA;
    },
  };
  const parsed = parseInstruction(program, compiled, accounts);
  return parsed === null || !isWhole ? null : viewOf(parseJson(writeJson(parsed.parsed)));
}

function read(raw: JsonMembers, keys: readonly Address[], data: DataOfTransaction): InstructionFields | null {
  const index = naturalOf(raw.programIdIndex, keys.length - 1);
  const program = index === null ? addressOf(raw.programId) : (keys[index] ?? null);
  if (program === null) return null;
  const parsedView = raw.parsed === undefined ? null : viewOf(raw.parsed);
  const accounts = accountsOf(raw.accounts, keys);
  const whole = accounts.length === itemsOf(raw.accounts).length;
  const late = data.of(raw.data);
  return { program, accounts, late, parsed: parsedView ?? (whole ? ownView(program, accounts, late) : null) };
}

const withPosition = (
  position: Omit<ExecutedInstruction, 'program' | 'accounts' | 'data' | 'parsed'>,
  { program, accounts, parsed, late }: InstructionFields,
): ExecutedInstruction => ({
  ...position,
  ...{ program, accounts, parsed },
  get data() {
    return late() ?? NO_DATA;
  },
});

/** Open calls by height. */
class Calls {
  readonly #open: number[] = [];

  /** @returns null as height when the stated one is impossible. */
  enter(index: number, stackHeight: JsonValue | undefined): { height: number | null; caller: number } {
    const stated = naturalOf(stackHeight, HEIGHT_MAX);
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

/** Inner instructions by outer index; the first of duplicate lists counts. */
function innerLists(innerInstructions: JsonValue | undefined): Map<number, readonly JsonValue[]> {
  const lists = new Map<number, readonly JsonValue[]>();
  for (const item of itemsOf(innerInstructions)) {
    const { index, instructions } = membersOf(item);
    if (typeof index === 'number' && !lists.has(index)) lists.set(index, itemsOf(instructions));
  }
  return lists;
}

/**
 * Flattens instructions in execution order: each outer one, then its inner ones. An instruction without a
 * valid program keeps its index and is left out.
 */
export function flattenInstructions(
  outers: readonly JsonValue[],
  innerInstructions: JsonValue | undefined,
  keys: readonly Address[],
): ExecutedInstruction[] {
  const inners = innerLists(innerInstructions);
  const flat: ExecutedInstruction[] = [];
  const calls = new Calls();
  const data = new DataOfTransaction();
  let index = 0;
  for (const [outer, raw] of outers.entries()) {
    if (index >= INSTRUCTIONS_MAX) return flat;
    const fields = read(membersOf(raw), keys, data);
    calls.start(index);
    if (fields !== null)
      flat.push(withPosition({ index, outer, height: 1, parentProgram: null, caller: null }, fields));
    index++;
    for (const one of inners.get(outer) ?? []) {
      if (index >= INSTRUCTIONS_MAX) return flat;
      const inner = read(membersOf(one), keys, data);
      const call = calls.enter(index, membersOf(one).stackHeight);
      const parentProgram = fields?.program ?? null;
      if (inner !== null) flat.push(withPosition({ index, outer, ...call, parentProgram }, inner));
      index++;
    }
  }
  return flat;
}

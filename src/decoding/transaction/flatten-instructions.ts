import { type JsonValue, parseJson, writeJson } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import { decodeBase58 } from '../../solana/base58.ts';
import type { JsonMembers } from '../../solana/encoding/read-json.ts';
import { parseInstruction } from '../../solana/parsed/parse-instruction.ts';
import { addressOf, itemsOf, membersOf, naturalOf } from '../lenient-json.ts';
import type { ExecutedInstruction, ParsedView } from './executed-transaction.ts';

/** Limits of the instructions of one transaction, which no configuration sets, as those in read-run-transaction.ts. */

/**
 * Instructions of one transaction: many times what may run, so that work on each beside each other one stays small.
 * Source: Agave, `MAX_INSTRUCTION_TRACE_LENGTH`, 64.
 */
const INSTRUCTIONS_MAX = 1_000;
/** Accounts that one instruction can name; indexes are a u8. */
const ACCOUNTS_MAX = 256;
/** Calls in one another; far above what the runtime allows. Source: Agave, `MAX_INSTRUCTION_STACK_DEPTH`, 5 or 9. */
const HEIGHT_MAX = 255;
/**
 * Characters of base58 that are decoded of one transaction, ten times the longest data: anybody can have 63 of those in
 * one, and decoding takes more time than all else. What is beyond them counts as no data.
 */
const DATA_TEXT_MAX = 131_072;
const NO_DATA = new Uint8Array(0);

/** The data of an instruction, decoded when somebody asks for it, and once. */
type LateData = () => Uint8Array | null;

/** What an instruction says of itself, in whichever form it was shown. */
type InstructionFields = Pick<ExecutedInstruction, 'program' | 'accounts' | 'parsed'> &
  Readonly<{ late: LateData }>;

/** A memo is shown as text alone; everything else has a type and an info. */
function viewOf(parsed: JsonValue): ParsedView | null {
  if (typeof parsed === 'string') return { type: 'memo', info: { memo: parsed } };
  const { type, info } = membersOf(parsed);
  return typeof type === 'string' ? { type, info: membersOf(info ?? {}) } : null;
}

/** Accounts by index or by name, up to the first that is nowhere: those behind it would stand in another's place. */
function accountsOf(list: JsonValue | undefined, keys: readonly Address[]): Address[] {
  const accounts: Address[] = [];
  for (const item of itemsOf(list, ACCOUNTS_MAX)) {
    const account = typeof item === 'number' ? keys[item] : addressOf(item);
    if (account === undefined || account === null) break;
    accounts.push(account);
  }
  return accounts;
}

/** Decodes the data of one transaction, as far as it may take. */
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

/** The meaning of instructions that the node left as bytes, in the very values that it would have had on the wire. */
function ownView(program: Address, accounts: readonly Address[], late: LateData): ParsedView | null {
  let isWhole = true;
  const compiled = {
    programIdIndex: 0,
    accounts: Uint8Array.from(accounts.keys()),
    // Only for the programs that it knows.
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

/** An instruction in its place. */
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

/** The calls that are open, by their height: who called an instruction is the last one below it. */
class Calls {
  readonly #open: number[] = [];

  /** @returns the height, or null for one that cannot be here; and the caller. */
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

/** Inner instructions by the outer one that they belong to; of two lists for one, the first. */
function innerLists(innerInstructions: JsonValue | undefined): Map<number, readonly JsonValue[]> {
  const lists = new Map<number, readonly JsonValue[]>();
  for (const item of itemsOf(innerInstructions)) {
    const { index, instructions } = membersOf(item);
    if (typeof index === 'number' && !lists.has(index)) lists.set(index, itemsOf(instructions));
  }
  return lists;
}

/**
 * Every instruction of a transaction in the order in which they began: each outer one, then its inner ones. One that
 * names no program takes its number and is left out, as is what no transaction can have room for.
 * @param outers - of the message, as a node shows them in `json` or `jsonParsed`.
 * @param innerInstructions - of the meta.
 * @param keys - static, loaded writable, loaded readonly.
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

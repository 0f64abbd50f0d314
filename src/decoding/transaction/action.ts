import type { WritableJson } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import type { ExecutedInstruction, ExecutedTransaction } from './executed-transaction.ts';

/** What people call what an instruction did. Source: rest-api.md §3.1, the client's enum `TxnAction`. */
export const actionTypes = [
  ...['SOL_TRANSFER', 'TOKEN_TRANSFER', 'NFT_TRANSFER', 'TOKEN_MINT', 'TOKEN_CREATE', 'TOKEN_BURN'],
  ...['NFT_MINT', 'NFT_BURN', 'MEMO', 'UNKNOWN'],
  ...['NFT_SALE', 'NFT_BID', 'NFT_BID_CANCEL', 'NFT_LIST', 'NFT_LIST_UPDATE', 'NFT_LIST_CANCEL'],
  ...['MARKETPLACE_WITHDRAW'],
  ...['COMPRESSED_NFT_MINT', 'COMPRESSED_NFT_TRANSFER', 'COMPRESSED_NFT_BURN', 'COMPRESSED_NFT_SALE'],
  ...['COMPRESSED_NFT_LIST', 'COMPRESSED_NFT_LIST_CANCEL', 'COMPRESSED_NFT_LIST_UPDATE'],
  ...['COMPRESSED_NFT_BID', 'COMPRESSED_NFT_BID_CANCEL', 'COMPRESSED_NFT_TAKE_BID', 'CREATE_TREE'],
  ...['SWAP', 'CREATE_POOL', 'ADD_LIQUIDITY', 'REMOVE_LIQUIDITY', 'COLLECT_FEES', 'COLLECT_REWARD'],
] as const;

/** One of `actionTypes`, or the upper-case name of an instruction that a program's own interface gives it. */
export type ActionType = string;

/** A program with the name that the interface shows; empty where it has none. */
export type Protocol = Readonly<{ address: Address; name: string }>;

/** One thing that a transaction did. Members in the order of the interface. */
export type Action = Readonly<{
  info: Readonly<Record<string, WritableJson>>;
  source_protocol: Protocol;
  type: ActionType;
  /** The outer instruction's program, for what an inner one did. */
  parent_protocol?: Address;
  /** `RunInstruction.index` */
  ix_index: number;
}>;

/**
 * What an instruction of one program did. Bytes come from the chain, where anyone may have written them: a reader
 * takes what is not as the program has it for UNKNOWN, and never throws.
 * @returns the actions, none where it is not worth telling (accounts that are made for others' sake); null where the
 * reader does not know the instruction: it is told as UNKNOWN.
 */
export type ReadInstruction = (
  instruction: ExecutedInstruction,
  transaction: ExecutedTransaction,
) => readonly Pick<Action, 'type' | 'info'>[] | null;

/** What insight knows of a program. */
export type ProgramParser = Readonly<{ name: string; read: ReadInstruction }>;

/** A program's own record of what it did, by `emit_cpi!`, `emit!` or a log of its own. */
export type ProgramEvent = Readonly<{
  program: Address;
  /** `TradeEvent` */
  name: string;
  /** Members in snake_case, in the order of the program's interface. */
  data: Readonly<Record<string, WritableJson>>;
  /** `RunInstruction.index` of the instruction that told it. */
  index: number;
}>;

/** A token's side of a swap, before its names are known. `raw` in base units. */
export type SwapSide = Readonly<{ mint: Address; raw: bigint }>;

/** One pool's part in a swap. */
export type PoolSwap = Readonly<{
  /** null where the program's event does not name it. */
  pool: Address | null;
  /** As the interface shows it: `Raydium`, `Pump.fun AMM`. */
  source: string;
  in: SwapSide;
  out: SwapSide;
}>;

/** A swap as recognised, before the names of its tokens are known. */
export type Swap = Readonly<{
  /** Of the instruction that the swapper sent. */
  index: number;
  program: Address;
  parentProgram: Address | null;
  swapper: Address;
  in: SwapSide;
  out: SwapSide;
  pools: readonly PoolSwap[];
  slippagePercent: number | null;
  /** Base units of what was to come out. */
  quotedOut: bigint | null;
}>;

/** For programs of which only the name is known: whatever they do is UNKNOWN. */
const readUnknown: ReadInstruction = () => null;

/**
 * What an instruction does under the name that jsonParsed gives it, in capitals, with the info of jsonParsed; null
 * where its bytes are not understood. Source: rest-api.md §3, "SPL jsonParsed with no mapping".
 */
export const underItsName: ReadInstruction = ({ parsed }) =>
  parsed === null ? null : [{ type: parsed.type.toUpperCase(), info: parsed.info }];

/** A program with a name and no more. */
export const named = (name: string): ProgramParser => ({ name, read: readUnknown });

/** A program whose instructions jsonParsed has names for, and the interface has not. */
export const parsedByName = (name: string): ProgramParser => ({ name, read: underItsName });

/** A program whose instructions say how others run, and move nothing: they are not told. */
export const ignoredProgram = (name: string): ProgramParser => ({ name, read: () => [] });

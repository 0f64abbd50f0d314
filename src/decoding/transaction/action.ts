import type { WritableJson } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import type { ExecutedInstruction, ExecutedTransaction } from './executed-transaction.ts';

/** Source: rest-api.md §3.1, the client's enum `TxnAction`. */
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

export type Protocol = Readonly<{ address: Address; name: string }>;

export type Action = Readonly<{
  info: Readonly<Record<string, WritableJson>>;
  source_protocol: Protocol;
  type: string;
  /** Program of the outer instruction. */
  parent_protocol?: Address;
  ix_index: number;
}>;

export type ParsedAction = Pick<Action, 'type' | 'info'>;

/**
 * Decodes one instruction of a program. Must not throw, because the bytes are untrusted.
 * @returns the actions; empty if the instruction is not shown; null (UNKNOWN) if it is not recognized.
 */
export type ReadInstruction = (
  instruction: ExecutedInstruction,
  transaction: ExecutedTransaction,
) => readonly ParsedAction[] | null;

export type ProgramParser = Readonly<{ name: string; read: ReadInstruction }>;

export type ProgramEvent = Readonly<{
  program: Address;
  name: string;
  data: Readonly<Record<string, WritableJson>>;
  index: number;
}>;

/** `raw` is the amount in base units. */
export type SwapSide = Readonly<{ mint: Address; raw: bigint }>;

export type PoolSwap = Readonly<{
  pool: Address | null;
  /** Display name such as `Raydium` or `Pump.fun AMM`. */
  source: string;
  in: SwapSide;
  out: SwapSide;
}>;

export type Swap = Readonly<{
  /** Index of the outermost DEX instruction that contains the swap. */
  index: number;
  program: Address;
  parentProgram: Address | null;
  swapper: Address;
  in: SwapSide;
  out: SwapSide;
  pools: readonly PoolSwap[];
  slippagePercent: number | null;
  quotedOut: bigint | null;
}>;

const readUnknown: ReadInstruction = () => null;

/** Source: rest-api.md §3, "SPL jsonParsed with no mapping". */
export const readByParsedType: ReadInstruction = ({ parsed }) =>
  parsed === null ? null : [{ type: parsed.type.toUpperCase(), info: parsed.info }];

export const unparsedProgram = (name: string): ProgramParser => ({ name, read: readUnknown });

export const jsonParsedProgram = (name: string): ProgramParser => ({ name, read: readByParsedType });

export const ignoredProgram = (name: string): ProgramParser => ({ name, read: () => [] });

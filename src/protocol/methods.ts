import type { Commitment } from './commitment.ts';

/**
 * Table of JSON-RPC methods, with the credits (price) per method. A special rule for one method becomes a column here,
 * never an `if` elsewhere.
 * Source: Agave rpc/src/rpc.rs; reference solana-json-rpc.md §1.
 */

/**
 * Determines retries, hedging, coalescing and fan-out; cache lifetimes are in upstream/middleware/cache-policy.ts.
 * - `fixed`: constant on a network. `epoch`: constant during an epoch.
 * - `head`: current state, at any commitment.
 * - `pinned`: addressed by slot or signature; the result no longer changes once the slot is finalized.
 * - `growing`: history and lists that grow.
 * - `scan`: expensive for the node. `simulate`: neither shared nor hedged.
 * - `send`: a signed transaction, which may go to many nodes; idempotent by signature.
 * - `mint`: an airdrop; sent once, to one node.
 * - `unknown`: not in the table; never repeated once sent.
 */
export type MethodKind =
  | 'fixed'
  | 'epoch'
  | 'head'
  | 'pinned'
  | 'growing'
  | 'scan'
  | 'simulate'
  | 'send'
  | 'mint'
  | 'unknown';

export type MethodTraits = Readonly<{
  /** Not repeated once a node may have processed it, because a second execution could have a second effect. */
  singleNode: boolean;
  /** The call may have taken effect even if no response arrived. */
  hasEffect: boolean;
  /** Contains a signed transaction: idempotent, and its signature identifies the result. */
  signed: boolean;
  /** An attempt may use the whole timeout, because the call is slow or is not retried. */
  mayUseWholeTimeout: boolean;
  outlivesCaller: boolean;
  /** Identical concurrent calls may share a response. */
  shared: boolean;
  /** So cheap that only a call repeated within a second is worth registering for coalescing. */
  coalescedIfRepeated: boolean;
  /** Cheap enough for hedging and for recovery probes. */
  hedged: boolean;
}>;

function traits(...flags: readonly (keyof MethodTraits)[]): MethodTraits {
  return {
    singleNode: flags.includes('singleNode'),
    hasEffect: flags.includes('hasEffect'),
    signed: flags.includes('signed'),
    mayUseWholeTimeout: flags.includes('mayUseWholeTimeout'),
    outlivesCaller: flags.includes('outlivesCaller'),
    shared: flags.includes('shared'),
    coalescedIfRepeated: flags.includes('coalescedIfRepeated'),
    hedged: flags.includes('hedged'),
  };
}

export const methodTraits: Readonly<Record<MethodKind, MethodTraits>> = {
  fixed: traits('shared', 'hedged'),
  epoch: traits('shared', 'hedged'),
  head: traits('shared', 'coalescedIfRepeated', 'hedged'),
  pinned: traits('shared', 'hedged'),
  growing: traits('shared', 'hedged'),
  scan: traits('mayUseWholeTimeout', 'shared'),
  simulate: traits(),
  send: traits('hasEffect', 'signed', 'outlivesCaller'),
  mint: traits('singleNode', 'hasEffect', 'mayUseWholeTimeout', 'outlivesCaller'),
  unknown: traits('singleNode', 'hasEffect', 'mayUseWholeTimeout'),
};

export type MethodRow = Readonly<{
  kind: MethodKind;
  /** Credits per call. */
  credits: number;
  /** Index of the options object in the params. */
  configIndex: number | null;
  /** Weakest accepted commitment; null: the method takes no commitment. */
  commitment: Commitment | null;
  /** The result is `{ context, value }`. */
  context: boolean;
  /** How the requested history is addressed. */
  history: HistoryKey | null;
}>;

/**
 * `slot`: by the slot in the first param. `signature`: by signature. For both, a null result may mean that the node
 * does not have the data. `address`: a list that ends where the node's history ends.
 */
export type HistoryKey = 'slot' | 'signature' | 'address';

function row(
  kind: MethodKind,
  credits: number,
  configIndex: number | null,
  commitment: Commitment | null,
  context: boolean,
  history: HistoryKey | null = null,
): MethodRow {
  return { kind, credits, configIndex, commitment, context, history };
}

// biome-ignore format: a table is read by its columns
export const methods = {
  getAccountInfo: row('head', 1, 1, 'processed', true),
  getAgGenesisCert: row('epoch', 1, null, null, false),
  getBalance: row('head', 1, 1, 'processed', true),
  getBlock: row('pinned', 5, 1, 'confirmed', false, 'slot'),
  getBlockCommitment: row('growing', 1, null, null, false),
  getBlockHeight: row('head', 1, 0, 'processed', false),
  getBlockProduction: row('growing', 2, 0, 'processed', true),
  getBlocks: row('growing', 2, null, 'confirmed', false, 'slot'),
  getBlocksWithLimit: row('growing', 2, 2, 'confirmed', false, 'slot'),
  getBlockTime: row('pinned', 1, null, null, false, 'slot'),
  getClusterNodes: row('growing', 2, null, null, false),
  getEpochInfo: row('head', 1, 0, 'processed', false),
  getEpochSchedule: row('fixed', 1, null, null, false),
  getFeeForMessage: row('head', 1, 1, 'processed', true),
  getFirstAvailableBlock: row('growing', 1, null, null, false),
  getGenesisHash: row('fixed', 1, null, null, false),
  getHealth: row('head', 1, null, null, false),
  getHighestSnapshotSlot: row('growing', 1, null, null, false),
  getIdentity: row('fixed', 1, null, null, false),
  getInflationGovernor: row('epoch', 1, 0, 'processed', false),
  getInflationRate: row('epoch', 1, null, null, false),
  getInflationReward: row('pinned', 5, 1, 'confirmed', false),
  getLargestAccounts: row('scan', 10, 0, 'processed', true),
  getLatestBlockhash: row('head', 1, 0, 'processed', true),
  getLeaderSchedule: row('epoch', 2, 1, 'processed', false),
  getMaxRetransmitSlot: row('head', 1, null, null, false),
  getMaxShredInsertSlot: row('head', 1, null, null, false),
  getMinimumBalanceForRentExemption: row('epoch', 1, 1, 'processed', false),
  getMultipleAccounts: row('head', 2, 1, 'processed', true),
  getProgramAccounts: row('scan', 10, 1, 'processed', false),
  getRecentPerformanceSamples: row('growing', 1, null, null, false),
  getRecentPrioritizationFees: row('head', 1, null, null, false),
  getSignatureStatuses: row('head', 1, null, null, true),
  getSignaturesForAddress: row('growing', 5, 1, 'confirmed', false, 'address'),
  getSlot: row('head', 1, 0, 'processed', false),
  getSlotLeader: row('head', 1, 0, 'processed', false),
  getSlotLeaders: row('epoch', 1, null, null, false),
  getStakeMinimumDelegation: row('epoch', 1, 0, 'processed', true),
  getSupply: row('scan', 10, 0, 'processed', true),
  getTokenAccountBalance: row('head', 1, 1, 'processed', true),
  getTokenAccountsByDelegate: row('scan', 10, 2, 'processed', true),
  getTokenAccountsByOwner: row('scan', 10, 2, 'processed', true),
  getTokenLargestAccounts: row('scan', 10, 1, 'processed', true),
  getTokenSupply: row('head', 1, 1, 'processed', true),
  getTransaction: row('pinned', 5, 1, 'confirmed', false, 'signature'),
  getTransactionCount: row('head', 1, 0, 'processed', false),
  getTransactionsForAddress: row('growing', 10, 1, 'confirmed', false, 'address'),
  getVersion: row('fixed', 1, null, null, false),
  getVoteAccounts: row('growing', 2, 0, 'processed', false),
  isBlockhashValid: row('head', 1, 1, 'processed', true),
  minimumLedgerSlot: row('growing', 1, null, null, false),
  requestAirdrop: row('mint', 10, 2, 'processed', false),
  sendTransaction: row('send', 5, 1, 'processed', false),
  simulateTransaction: row('simulate', 5, 1, 'processed', true),
} as const satisfies Record<string, MethodRow>;

export type MethodName = keyof typeof methods;

export const unknownMethod: MethodRow = row('unknown', 1, null, null, false);

const rows: ReadonlyMap<string, MethodRow> = new Map(Object.entries(methods));

/** Uses a Map: in a plain object, a method named `constructor` would be found. */
export const methodRow = (name: string): MethodRow => rows.get(name) ?? unknownMethod;

/** Methods that change accounts and the clock of a local ledger: those of the embedded one, and all of Surfpool. */
export const isTestMethod = (name: string): boolean =>
  name.startsWith('surfnet_') || name.startsWith('solway_');

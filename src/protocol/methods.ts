import type { Commitment } from './commitment.ts';

/**
 * The table of JSON-RPC methods: a row per method, and all that the rest of the house needs to know about it.
 * A rule that holds for one method only is a column that is missing here, never an `if` elsewhere.
 * Source: Agave rpc/src/rpc.rs; reference solana-json-rpc.md §1.
 */

/**
 * What kind of question a method asks; it decides retrying, hedging, sharing, fan-out and comparison. What may be kept of
 * its answers, and how long, is more than a nature can say: upstream/cache/reading-rules.ts has a row per method for that.
 * - `fixed`: the same for the life of a network.
 * - `epoch`: the same for an epoch.
 * - `head`: the moving state, at any commitment.
 * - `pinned`: named by a slot or signature; final once below the finalized root.
 * - `growing`: history or lists that get longer.
 * - `scan`: heavy for the node.
 * - `simulate`: runs a transaction without effect.
 * - `send`: the same signed bytes may go to many nodes; idempotent by signature.
 * - `mint`: an airdrop, to exactly one node and never again.
 * - `unknown`: not in the table; never asked twice once its bytes have left.
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

/** How calls of a nature may be treated on their way. */
export type MethodTraits = Readonly<{
  /** The request may reach one node only, whatever came of it. */
  oneNode: boolean;
  /** It changes something, which may have happened although nobody confirmed it. */
  hasEffect: boolean;
  /** It carries a signed transaction: the same bytes again do no harm, and its signature tells what became of it. */
  signed: boolean;
  /**
   * One attempt may take all the time there is: none may follow it, or the node needs long for honest work that a
   * second one would only repeat.
   */
  takesAllTheTime: boolean;
  /** It goes on when whoever asked hangs up: once handed over it is done. */
  outlivesCaller: boolean;
  /** Whoever asks the same while it is on its way may have the same answer. */
  shared: boolean;
  /** It is light, and so may be asked of a second node while the first is late, or as a trial of one. */
  hedged: boolean;
}>;

function traits(...flags: readonly (keyof MethodTraits)[]): MethodTraits {
  return {
    oneNode: flags.includes('oneNode'),
    hasEffect: flags.includes('hasEffect'),
    signed: flags.includes('signed'),
    takesAllTheTime: flags.includes('takesAllTheTime'),
    outlivesCaller: flags.includes('outlivesCaller'),
    shared: flags.includes('shared'),
    hedged: flags.includes('hedged'),
  };
}

/** A row per nature. */
export const methodTraits: Readonly<Record<MethodKind, MethodTraits>> = {
  fixed: traits('shared', 'hedged'),
  epoch: traits('shared', 'hedged'),
  head: traits('shared', 'hedged'),
  pinned: traits('shared', 'hedged'),
  growing: traits('shared', 'hedged'),
  scan: traits('takesAllTheTime', 'shared'),
  simulate: traits(),
  send: traits('hasEffect', 'signed', 'outlivesCaller'),
  mint: traits('oneNode', 'hasEffect', 'takesAllTheTime', 'outlivesCaller'),
  unknown: traits('oneNode', 'hasEffect', 'takesAllTheTime'),
};

export type MethodRow = Readonly<{
  kind: MethodKind;
  /** Credits one call costs. */
  cost: number;
  /** Index of the options object among the positional parameters; null when the method has none. */
  config: number | null;
  /** The weakest commitment the method takes; null when it takes none. */
  commitment: Commitment | null;
  /** Whether the result is `{ context, value }`. */
  context: boolean;
  /** What names the part of history that it reads; null when it reads none. */
  history: HistoryKey | null;
}>;

/**
 * What names a part of history: the slot that is the first parameter, whose result is null while it is not there; a
 * signature, whose result is null where a node does not have it; or an address, whose list ends where a node's history
 * does.
 */
export type HistoryKey = 'slot' | 'signature' | 'address';

function row(
  kind: MethodKind,
  cost: number,
  config: number | null,
  commitment: Commitment | null,
  context: boolean,
  history: HistoryKey | null = null,
): MethodRow {
  return { kind: kind, cost, config, commitment, context, history };
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

/** The row of every method that is not in the table. */
export const unknownMethod: MethodRow = row('unknown', 1, null, null, false);

const rows: ReadonlyMap<string, MethodRow> = new Map(Object.entries(methods));

/** The row of a method by its wire name. A Map, so that a method called `constructor` finds nothing. */
export const methodRow = (name: string): MethodRow => rows.get(name) ?? unknownMethod;

import type { MethodName } from '../../protocol/methods.ts';

/**
 * How answers may be kept, and what of params decides about them: a row per method, in addition to its nature.
 * Sources: reference provider-practice.md §2.1 and §7.1, solana-json-rpc.md §1.2 to §1.7.
 */

/**
 * How long an answer holds.
 * - `never`: only whoever asks while it is on its way shares it.
 * - `slot`: until the chain has come to another slot, and never longer than a slot takes.
 * - `shortly`: some seconds: facts of an epoch, and of a node.
 * - `always`: facts of the chain.
 * - `final`: when it was asked for at `finalized`, and rests on slots below the finalized root.
 */
export type Keep = 'never' | 'slot' | 'shortly' | 'always' | 'final';

/**
 * What the options object is.
 * - `context`: fields that nobody knows are ignored, and so is a commitment that nobody knows; it takes minContextSlot.
 * - `lenient`: the same, without minContextSlot.
 * - `strict`: a commitment and nothing else; an empty one is an error.
 */
export type ConfigKind = 'context' | 'lenient' | 'strict';

/** Where the slot stands that a final answer rests on: the first of the params, or a member of the result. */
export type Pin = 'first-param' | 'slot' | 'effectiveSlot';

export type ReadingRule = Readonly<{
  keep: Keep;
  /** null: it has none, or not always at the same place. */
  config: ConfigKind | null;
  /** Of final answers; null for all others. */
  pin: Pin | null;
  /** The option without which the question means another thing at another time; null: there is none such. */
  named: string | null;
  /** The result is a list in which null stands for what is not there. */
  holes: boolean;
}>;

type Marks = Partial<Pick<ReadingRule, 'named' | 'holes'>>;

const rule = (keep: Keep, config: ConfigKind | null = null, marks: Marks = {}): ReadingRule => ({
  ...{ keep, config, pin: null, named: null, holes: false },
  ...marks,
});

const final = (pin: Pin, config: ConfigKind | null, marks: Marks = {}): ReadingRule => ({
  ...rule('final', config, marks),
  pin,
});

// biome-ignore format: a table is read by its columns
export const readingRules = {
  getAccountInfo: rule('slot', 'context'),
  getAgGenesisCert: rule('shortly'),
  getBalance: rule('never', 'context'),
  getBlock: final('first-param', 'lenient'),
  getBlockCommitment: rule('never'),
  getBlockHeight: rule('slot', 'context'),
  getBlockProduction: rule('never', 'lenient'),
  getBlocks: rule('never'),
  getBlocksWithLimit: rule('never', 'lenient'),
  getBlockTime: final('first-param', null),
  getClusterNodes: rule('never'),
  getEpochInfo: rule('slot', 'context'),
  getEpochSchedule: rule('always'),
  getFeeForMessage: rule('never', 'context'),
  getFirstAvailableBlock: rule('never'),
  getGenesisHash: rule('always'),
  getHealth: rule('never'),
  getHighestSnapshotSlot: rule('never'),
  getIdentity: rule('shortly'),
  getInflationGovernor: rule('shortly', 'strict'),
  getInflationRate: rule('shortly'),
  getInflationReward: final('effectiveSlot', 'context', { named: 'epoch', holes: true }),
  getLargestAccounts: rule('never', 'lenient'),
  getLatestBlockhash: rule('slot', 'context'),
  getLeaderSchedule: rule('never'),
  getMaxRetransmitSlot: rule('never'),
  getMaxShredInsertSlot: rule('never'),
  getMinimumBalanceForRentExemption: rule('shortly', 'strict'),
  getMultipleAccounts: rule('slot', 'context', { holes: true }),
  getProgramAccounts: rule('never', 'context'),
  getRecentPerformanceSamples: rule('never'),
  getRecentPrioritizationFees: rule('never'),
  getSignatureStatuses: rule('never'),
  getSignaturesForAddress: rule('never', 'context'),
  getSlot: rule('slot', 'context'),
  getSlotLeader: rule('slot', 'context'),
  getSlotLeaders: rule('shortly'),
  getStakeMinimumDelegation: rule('shortly', 'context'),
  getSupply: rule('never', 'lenient'),
  getTokenAccountBalance: rule('never', 'strict'),
  getTokenAccountsByDelegate: rule('never', 'context'),
  getTokenAccountsByOwner: rule('never', 'context'),
  getTokenLargestAccounts: rule('never', 'strict'),
  getTokenSupply: rule('slot', 'strict'),
  getTransaction: final('slot', 'lenient'),
  getTransactionCount: rule('slot', 'context'),
  getTransactionsForAddress: rule('never'),
  getVersion: rule('shortly'),
  getVoteAccounts: rule('never', 'lenient'),
  isBlockhashValid: rule('never', 'context'),
  minimumLedgerSlot: rule('never'),
  requestAirdrop: rule('never'),
  sendTransaction: rule('never', 'context'),
  simulateTransaction: rule('never', 'context'),
} as const satisfies Record<MethodName, ReadingRule>;

const rules: ReadonlyMap<string, ReadingRule> = new Map(Object.entries(readingRules));

/** Of a method that nobody knows nothing is kept. */
const unknownRule: ReadingRule = rule('never');

/** The rule of a method by its wire name. */
export const readingRule = (method: string): ReadingRule => rules.get(method) ?? unknownRule;

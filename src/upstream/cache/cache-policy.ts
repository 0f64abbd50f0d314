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
export type TtlClass = 'never' | 'slot' | 'shortly' | 'always' | 'final';

/**
 * What the options object is.
 * - `context`: fields that nobody knows are ignored, and so is a commitment that nobody knows; it takes minContextSlot.
 * - `lenient`: the same, without minContextSlot.
 * - `strict`: a commitment and nothing else; an empty one is an error.
 */
export type ConfigKind = 'context' | 'lenient' | 'strict';

/** Where the slot stands that a final answer rests on: the first of the params, or a member of the result. */
export type Pin = 'first-param' | 'slot' | 'effectiveSlot';

export type CachePolicy = Readonly<{
  ttl: TtlClass;
  /** null: it has none, or not always at the same place. */
  config: ConfigKind | null;
  /** Of final answers; null for all others. */
  pin: Pin | null;
  /** The option without which the question means another thing at another time; null: there is none such. */
  requiredOption: string | null;
  /** The result is a list in which null stands for what is not there. */
  mayContainNulls: boolean;
}>;

type PolicyOptions = Partial<Pick<CachePolicy, 'requiredOption' | 'mayContainNulls'>>;

const policy = (
  ttl: TtlClass,
  config: ConfigKind | null = null,
  options: PolicyOptions = {},
): CachePolicy => ({
  ...{ ttl, config, pin: null, requiredOption: null, mayContainNulls: false },
  ...options,
});

const final = (pin: Pin, config: ConfigKind | null, options: PolicyOptions = {}): CachePolicy => ({
  ...policy('final', config, options),
  pin,
});

// biome-ignore format: a table is read by its columns
export const cachePolicies = {
  getAccountInfo: policy('slot', 'context'),
  getAgGenesisCert: policy('shortly'),
  getBalance: policy('never', 'context'),
  getBlock: final('first-param', 'lenient'),
  getBlockCommitment: policy('never'),
  getBlockHeight: policy('slot', 'context'),
  getBlockProduction: policy('never', 'lenient'),
  getBlocks: policy('never'),
  getBlocksWithLimit: policy('never', 'lenient'),
  getBlockTime: final('first-param', null),
  getClusterNodes: policy('never'),
  getEpochInfo: policy('slot', 'context'),
  getEpochSchedule: policy('always'),
  getFeeForMessage: policy('never', 'context'),
  getFirstAvailableBlock: policy('never'),
  getGenesisHash: policy('always'),
  getHealth: policy('never'),
  getHighestSnapshotSlot: policy('never'),
  getIdentity: policy('shortly'),
  getInflationGovernor: policy('shortly', 'strict'),
  getInflationRate: policy('shortly'),
  getInflationReward: final('effectiveSlot', 'context', { requiredOption: 'epoch', mayContainNulls: true }),
  getLargestAccounts: policy('never', 'lenient'),
  getLatestBlockhash: policy('slot', 'context'),
  getLeaderSchedule: policy('never'),
  getMaxRetransmitSlot: policy('never'),
  getMaxShredInsertSlot: policy('never'),
  getMinimumBalanceForRentExemption: policy('shortly', 'strict'),
  getMultipleAccounts: policy('slot', 'context', { mayContainNulls: true }),
  getProgramAccounts: policy('never', 'context'),
  getRecentPerformanceSamples: policy('never'),
  getRecentPrioritizationFees: policy('never'),
  getSignatureStatuses: policy('never'),
  getSignaturesForAddress: policy('never', 'context'),
  getSlot: policy('slot', 'context'),
  getSlotLeader: policy('slot', 'context'),
  getSlotLeaders: policy('shortly'),
  getStakeMinimumDelegation: policy('shortly', 'context'),
  getSupply: policy('never', 'lenient'),
  getTokenAccountBalance: policy('never', 'strict'),
  getTokenAccountsByDelegate: policy('never', 'context'),
  getTokenAccountsByOwner: policy('never', 'context'),
  getTokenLargestAccounts: policy('never', 'strict'),
  getTokenSupply: policy('slot', 'strict'),
  getTransaction: final('slot', 'lenient'),
  getTransactionCount: policy('slot', 'context'),
  getTransactionsForAddress: policy('never'),
  getVersion: policy('shortly'),
  getVoteAccounts: policy('never', 'lenient'),
  isBlockhashValid: policy('never', 'context'),
  minimumLedgerSlot: policy('never'),
  requestAirdrop: policy('never'),
  sendTransaction: policy('never', 'context'),
  simulateTransaction: policy('never', 'context'),
} as const satisfies Record<MethodName, CachePolicy>;

const policiesByMethod: ReadonlyMap<string, CachePolicy> = new Map(Object.entries(cachePolicies));

/** Of a method that nobody knows nothing is kept. */
const unknownPolicy: CachePolicy = policy('never');

/** The rule of a method by its wire name. */
export const cachePolicy = (method: string): CachePolicy => policiesByMethod.get(method) ?? unknownPolicy;

import type { RpcResponse } from '../../protocol/call.ts';
import type { MethodName } from '../../protocol/methods.ts';
import type { Slot } from '../../solana/units.ts';
import { newestSlotOf, slotOfResult } from '../slots/context-slot.ts';
import type { CallKey } from './call-key.ts';

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

/** How long answers are kept, by the kind of what they say. Milliseconds. */
export type CacheTtls = Readonly<{
  /** The moving state: no longer than a slot takes. 0 keeps none of it. */
  slotMs: number;
  /** Facts of an epoch, and of a node. */
  shortMs: number;
  /** Facts of the chain, and blocks and transactions below the finalized root. */
  finalMs: number;
}>;

export const defaultCacheTtls: CacheTtls = { slotMs: 400, shortMs: 10_000, finalMs: 3_600_000 };

const NULL = Buffer.from('null');
const VALUE_LAST = Buffer.from('"value":null}');
const VALUE_FIRST = Buffer.from('{"value":null');
const FIRST_PARAM = /^\[(\d{1,20})[,\]]/;

/** Whether the result says that something is not there: by the next moment it may be. */
export function isNegative(result: Buffer, mayContainNulls: boolean): boolean {
  if (result.length <= NULL.length) return result.equals(NULL);
  const { length } = result;
  if (result.compare(VALUE_LAST, 0, VALUE_LAST.length, Math.max(0, length - VALUE_LAST.length)) === 0) {
    return true;
  }
  if (result.subarray(0, VALUE_FIRST.length).equals(VALUE_FIRST)) return true;
  return mayContainNulls && (result.includes(',null') || result.includes('[null'));
}

/** The newest slot that a final answer rests on; null when it cannot be told. */
export function pinnedSlot({ policy, params }: CallKey, result: Buffer): Slot | null {
  switch (policy.pin) {
    case null:
      return null;
    case 'first-param': {
      const digits = FIRST_PARAM.exec(params)?.[1];
      return digits === undefined ? null : (BigInt(digits) as Slot);
    }
    case 'effectiveSlot':
      return newestSlotOf(result, policy.pin);
    default:
      return slotOfResult(result, policy.pin);
  }
}

/** Whether params name it: what is null is left to the node, and changes. */
const hasOption = (params: string, name: string): boolean =>
  params.includes(`"${name}":`) && !params.includes(`"${name}":null`);

function isFinal(key: CallKey, result: Buffer, root: Slot | null): boolean {
  const { requiredOption } = key.policy;
  if (root === null || key.commitment !== 'finalized') return false;
  if (requiredOption !== null && !hasOption(key.params, requiredOption)) return false;
  const pinned = pinnedSlot(key, result);
  return pinned !== null && pinned <= root;
}

/**
 * How long an answer may be kept, in milliseconds; 0 for not at all. Errors never are, and neither is what says that
 * something is not there.
 * @param root - the finalized root, as far as it is known.
 */
export function ttlFor(key: CallKey, response: RpcResponse, root: Slot | null, ttls: CacheTtls): number {
  const { ttl, mayContainNulls } = key.policy;
  if (ttl === 'never' || key.commitment === null) return 0;
  if (response.errorCode !== 0 || isNegative(response.body, mayContainNulls)) return 0;
  if (ttl === 'slot') return ttls.slotMs;
  if (ttl === 'shortly') return ttls.shortMs;
  return ttl === 'always' || isFinal(key, response.body, root) ? ttls.finalMs : 0;
}

import type { RpcResponse } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { type MethodName, type MethodRow, methods, unknownMethod } from '../../protocol/methods.ts';
import type { Slot } from '../../solana/units.ts';
import { newestSlotOf, slotOfResult } from '../slots/context-slot.ts';

/**
 * - `never`: not cached, but may be coalesced.
 * - `slot`: cached until the next slot, for at most slotMs.
 * - `short`: cached for shortMs; for data that depends on the epoch or on the node.
 * - `always`: cached for finalMs; for facts about the chain that never change.
 * - `final`: cached for finalMs if pinned to a slot at or below the finalized root, and requested at `finalized` or,
 *   with a `settled` config, at `confirmed`.
 */
export type TtlClass = 'never' | 'slot' | 'short' | 'always' | 'final';

/**
 * - `context`: the node ignores unknown fields and unknown commitments, and accepts minContextSlot.
 * - `lenient`: like `context`, but without minContextSlot.
 * - `settled`: like `lenient`. Once the slot of a result is finalized, the result is the same at `confirmed` and at
 *   `finalized`, so calls at either commitment have the same key.
 * - `strict`: accepts only a commitment; an empty object is an error.
 */
export type ConfigKind = 'context' | 'lenient' | 'settled' | 'strict';

/**
 * Location of the slot that a final response depends on: the first param, or a member of the result. `page`: the newest
 * slot of a full page of signatures.
 */
export type Pin = 'first-param' | 'slot' | 'effectiveSlot' | 'page';

export type CachePolicy = Readonly<{
  ttl: TtlClass;
  /** null if the method has no options object, or none at a fixed index. */
  config: ConfigKind | null;
  pin: Pin | null;
  /** Name of the option without which the result changes over time. */
  requiredOption: string | null;
  /** Whether the result may be a list with null for absent items. */
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

/** Sources: provider-practice.md §2.1 and §7.1, solana-json-rpc.md §1.2 to §1.7. */
// biome-ignore format: a table is read by its columns
export const cachePolicies = {
  getAccountInfo: policy('slot', 'context'),
  getAgGenesisCert: policy('short'),
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
  getIdentity: policy('short'),
  getInflationGovernor: policy('short', 'strict'),
  getInflationRate: policy('short'),
  getInflationReward: final('effectiveSlot', 'context', { requiredOption: 'epoch', mayContainNulls: true }),
  getLargestAccounts: policy('never', 'lenient'),
  getLatestBlockhash: policy('slot', 'context'),
  getLeaderSchedule: policy('never'),
  getMaxRetransmitSlot: policy('never'),
  getMaxShredInsertSlot: policy('never'),
  getMinimumBalanceForRentExemption: policy('short', 'strict'),
  getMultipleAccounts: policy('slot', 'context', { mayContainNulls: true }),
  getProgramAccounts: policy('never', 'context'),
  getRecentPerformanceSamples: policy('never'),
  getRecentPrioritizationFees: policy('never'),
  getSignatureStatuses: policy('never'),
  getSignaturesForAddress: final('page', 'context', { requiredOption: 'before' }),
  getSlot: policy('slot', 'context'),
  getSlotLeader: policy('slot', 'context'),
  getSlotLeaders: policy('short'),
  getStakeMinimumDelegation: policy('short', 'context'),
  getSupply: policy('never', 'lenient'),
  getTokenAccountBalance: policy('never', 'strict'),
  getTokenAccountsByDelegate: policy('never', 'context'),
  getTokenAccountsByOwner: policy('never', 'context'),
  getTokenLargestAccounts: policy('never', 'strict'),
  getTokenSupply: policy('slot', 'strict'),
  getTransaction: final('slot', 'settled'),
  getTransactionCount: policy('slot', 'context'),
  getTransactionsForAddress: policy('never'),
  getVersion: policy('short'),
  getVoteAccounts: policy('never', 'lenient'),
  isBlockhashValid: policy('never', 'context'),
  minimumLedgerSlot: policy('never'),
  requestAirdrop: policy('never'),
  sendTransaction: policy('never', 'context'),
  simulateTransaction: policy('never', 'context'),
} as const satisfies Record<MethodName, CachePolicy>;

/** A policy for every row of the method table, unknown methods included. */
export const policiesByRow: ReadonlyMap<MethodRow, CachePolicy> = new Map<MethodRow, CachePolicy>([
  ...Object.entries(cachePolicies).map(([name, one]) => [methods[name as MethodName], one] as const),
  [unknownMethod, policy('never')],
]);

export const defaultCacheTtls = {
  /** 0 disables caching of results that change every slot. */
  slotMs: 400,
  shortMs: 10_000,
  /** Lifetime of results with the policies `always` and `final`. */
  finalMs: 3_600_000,
};

export type CacheTtls = Readonly<typeof defaultCacheTtls>;

const NULL = Buffer.from('null');
const VALUE_LAST = Buffer.from('"value":null}');
const VALUE_FIRST = Buffer.from('{"value":null');
const FIRST_PARAM = /^\[(\d{1,20})[,\]]/;
const SIGNATURES_MAX = 1_000;
const LIMIT = /"limit":(\d{1,4})[,}]/;
const LISTED_SIGNATURE = '"signature":"';
/** A node may add the time to a block later. */
const NO_TIME = '"blockTime":null';

type CacheableCall = Readonly<{ policy: CachePolicy; params: string; commitment: Commitment | null }>;

/** Whether requested data is absent from the result; absent data may appear at any moment. */
export function isNegative(result: Buffer, mayContainNulls: boolean): boolean {
  if (result.length <= NULL.length) return result.equals(NULL);
  const { length } = result;
  if (result.compare(VALUE_LAST, 0, VALUE_LAST.length, Math.max(0, length - VALUE_LAST.length)) === 0) {
    return true;
  }
  if (result.subarray(0, VALUE_FIRST.length).equals(VALUE_FIRST)) return true;
  return mayContainNulls && (result.includes(',null') || result.includes('[null'));
}

function hasFullPage(params: string, result: Buffer): boolean {
  const limit = Number(LIMIT.exec(params)?.[1] ?? SIGNATURES_MAX);
  return result.toString('latin1').split(LISTED_SIGNATURE).length - 1 === limit;
}

/** Newest slot that a final response depends on. */
export function pinnedSlot({ policy, params }: CacheableCall, result: Buffer): Slot | null {
  switch (policy.pin) {
    case null:
      return null;
    case 'first-param': {
      const digits = FIRST_PARAM.exec(params)?.[1];
      return digits === undefined ? null : (BigInt(digits) as Slot);
    }
    case 'effectiveSlot':
      return newestSlotOf(result, policy.pin);
    case 'page':
      // A short page may end where the node's history ends.
      return hasFullPage(params, result) ? newestSlotOf(result, 'slot') : null;
    default:
      return slotOfResult(result, policy.pin);
  }
}

/** Whether a method is cached only with an option that the params lack. A fast check, without parsing. */
export const lacksOption = ({ requiredOption }: CachePolicy, params: Buffer | null): boolean =>
  requiredOption !== null && params?.includes(requiredOption) !== true;

/** An option set to null counts as absent: the node then chooses a value, which changes over time. */
const hasOption = (params: string, name: string): boolean =>
  params.includes(`"${name}":`) && !params.includes(`"${name}":null`);

function isFinal(key: CacheableCall, result: Buffer, root: Slot | null): boolean {
  const { config, requiredOption } = key.policy;
  const isSettled = config === 'settled';
  const hasCommitment = key.commitment === 'finalized' || (isSettled && key.commitment === 'confirmed');
  if (root === null || !hasCommitment || (isSettled && result.includes(NO_TIME))) return false;
  if (requiredOption !== null && !hasOption(key.params, requiredOption)) return false;
  const pinned = pinnedSlot(key, result);
  return pinned !== null && pinned <= root;
}

/** Lifetime in milliseconds; 0: not cacheable. Errors and absent data are never cached. */
export function ttlFor(
  key: CacheableCall,
  response: RpcResponse,
  root: Slot | null,
  ttls: CacheTtls,
): number {
  const { ttl, mayContainNulls } = key.policy;
  if (ttl === 'never' || key.commitment === null) return 0;
  if (response.errorCode !== 0 || isNegative(response.body, mayContainNulls)) return 0;
  if (ttl === 'slot') return ttls.slotMs;
  if (ttl === 'short') return ttls.shortMs;
  return ttl === 'always' || isFinal(key, response.body, root) ? ttls.finalMs : 0;
}

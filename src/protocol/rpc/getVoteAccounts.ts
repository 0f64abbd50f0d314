import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import type { Lamports, Slot } from '../../solana/units.ts';
import type { Commitment } from '../commitment.ts';
import { configObject, lenientCommitment, positional, readAddress } from './parameters.ts';
import { member, optional, readBoolean, readString, readU64 } from './serde.ts';

/** Slots without a vote after which a validator counts as delinquent. Source: Agave. */
const DELINQUENT_DISTANCE_SLOTS = 128n;

export type GetVoteAccountsParams = Readonly<{
  /** Only this vote account; null for all. */
  votePubkey: Address | null;
  keepUnstakedDelinquents: boolean;
  delinquentSlotDistance: bigint;
  commitment: Commitment;
}>;

export type VoteAccountJson = Readonly<{
  activatedStake: Lamports;
  /** Per cent, u8. */
  commission: number;
  /** Epoch, credits at its end, credits before it; the last five epochs. */
  epochCredits: readonly (readonly [bigint, bigint, bigint])[];
  /** Whether the account had stake when the epoch began. */
  epochVoteAccount: boolean;
  /** Hundredths of a per cent, u16. */
  inflationRewardsCommissionBps: number;
  lastVote: Slot;
  nodePubkey: Address;
  rootSlot: Slot;
  votePubkey: Address;
}>;
export type GetVoteAccountsResult = Readonly<{
  current: readonly VoteAccountJson[];
  delinquent: readonly VoteAccountJson[];
}>;

/** `{votePubkey, keepUnstakedDelinquents, delinquentSlotDistance, commitment}`. */
export function parseGetVoteAccounts(params: JsonValue | undefined): GetVoteAccountsParams {
  const config = configObject(positional(params, 0, 1)[0], 'RpcGetVoteAccountsConfig');
  const distance = optional(member(config, 'delinquentSlotDistance'), readU64);
  const keep = optional(member(config, 'keepUnstakedDelinquents'), readBoolean);
  const votePubkey = optional(member(config, 'votePubkey'), readString);
  return {
    votePubkey: votePubkey === null ? null : readAddress(votePubkey),
    keepUnstakedDelinquents: keep ?? false,
    delinquentSlotDistance: distance ?? DELINQUENT_DISTANCE_SLOTS,
    commitment: lenientCommitment(config),
  };
}

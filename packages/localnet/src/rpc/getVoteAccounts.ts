import type { JsonValue } from '../../../../src/base/json.ts';
import type { Commitment } from '../../../../src/protocol/commitment.ts';
import {
  configObject,
  lenientCommitment,
  positional,
  readAddress,
} from '../../../../src/protocol/rpc/parameters.ts';
import { member, optional, readBoolean, readString, readU64 } from '../../../../src/protocol/rpc/serde.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { programs } from '../../../../src/solana/programs.ts';
import { type Lamports, lamports, type Slot, slot } from '../../../../src/solana/units.ts';
import { decodeVoteState, type VoteState } from '../../../../src/solana/vote-state.ts';
import { activeStakes, commissionBps } from '../epoch-rewards/stake-accounts.ts';
import type { Bank, LocalNode } from '../node.ts';

/** Slots without a vote after which a validator counts as delinquent. Source: Agave. */
const DELINQUENT_DISTANCE_SLOTS = 128n;

type GetVoteAccountsParams = Readonly<{
  /** Only this vote account; null for all. */
  votePubkey: Address | null;
  keepUnstakedDelinquents: boolean;
  delinquentSlotDistance: bigint;
  commitment: Commitment;
}>;

type VoteAccountJson = Readonly<{
  activatedStake: Lamports;
  /** Percent, u8. */
  commission: number;
  /** Epoch, credits at its end, credits before it; the last five epochs. */
  epochCredits: readonly (readonly [bigint, bigint, bigint])[];
  /** Whether the account had stake when the epoch began. */
  epochVoteAccount: boolean;
  /** Basis points, u16. */
  inflationRewardsCommissionBps: number;
  lastVote: Slot;
  nodePubkey: Address;
  rootSlot: Slot;
  votePubkey: Address;
}>;
type GetVoteAccountsResult = Readonly<{
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

/** Source: Agave `MAX_RPC_VOTE_ACCOUNT_INFO_EPOCH_CREDITS_HISTORY`. */
const EPOCH_CREDITS_MAX = 5;

function describe(votePubkey: Address, state: VoteState, stake: Lamports | undefined): VoteAccountJson {
  const bps = commissionBps(state);
  return {
    activatedStake: stake ?? lamports(0),
    commission: Math.min(255, Math.ceil(bps / 100)),
    epochCredits: state.epochCredits
      .slice(-EPOCH_CREDITS_MAX)
      .map(({ epoch, credits, previousCredits }) => [epoch, credits, previousCredits]),
    epochVoteAccount: stake !== undefined,
    inflationRewardsCommissionBps: bps,
    lastVote: slot(state.votes.at(-1)?.slot ?? 0n),
    nodePubkey: state.node,
    rootSlot: slot(state.rootSlot ?? 0n),
    votePubkey,
  };
}

function* voteAccounts(bank: Bank, only: Address | null): Generator<VoteAccountJson> {
  const stakes = activeStakes(bank);
  for (const [address, account] of bank.accountsByOwner(programs.vote)) {
    if (only !== null && address !== only) continue;
    const state = decodeVoteState(account.data);
    if (state !== null) yield describe(address, state, stakes.get(address));
  }
}

const isCurrent = (vote: VoteAccountJson, bank: Bank, distance: bigint): boolean =>
  bank.slot >= distance ? vote.lastVote > bank.slot - distance : vote.lastVote > 0n;

/** Groups vote accounts into current and delinquent ones. */
export function getVoteAccounts(node: LocalNode, params: JsonValue | undefined): GetVoteAccountsResult {
  const wanted = parseGetVoteAccounts(params);
  const bank = node.bank(wanted.commitment);
  const current: VoteAccountJson[] = [];
  const delinquent: VoteAccountJson[] = [];
  for (const vote of voteAccounts(bank, wanted.votePubkey)) {
    if (isCurrent(vote, bank, wanted.delinquentSlotDistance)) current.push(vote);
    else if (wanted.keepUnstakedDelinquents || vote.activatedStake > 0n) delinquent.push(vote);
  }
  return { current, delinquent };
}

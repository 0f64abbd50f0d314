import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { programs } from '../../../../src/solana/programs.ts';
import { decodeVoteState, encodeVoteState, type VoteState } from '../../../../src/solana/vote-state.ts';
import type { RecentBlocks } from '../history/recent-blocks.ts';

/** Source: solana-vote-interface. */
const VOTES_MAX = 31;
/** Source: solana-vote-interface, `MAX_EPOCH_CREDITS_HISTORY`. */
const EPOCH_CREDITS_MAX = 64;
/** Credits of a vote with latency 1. Source: solana-vote-interface. */
const CREDITS_PER_ROOT = 16;

type VoteHistorySources = Readonly<{
  voteAccount: Address;
  recentBlocks: RecentBlocks;
  slotsPerEpoch: number;
}>;

type Votes = Pick<VoteState, 'votes' | 'rootSlot' | 'epochCredits' | 'lastTimestamp'>;

/** Vote tower after a vote for `last` when every slot from 1 on was voted for. */
export function towerAfter(last: number): Pick<VoteState, 'votes' | 'rootSlot'> {
  const root = last - VOTES_MAX;
  const count = Math.min(last, VOTES_MAX);
  return {
    votes: Array.from({ length: count }, (_, index) => ({
      latency: 1,
      slot: BigInt(last - count + 1 + index),
      confirmationCount: count - index,
    })),
    rootSlot: root > 0 ? BigInt(root) : null,
  };
}

/**
 * Simulates the node's votes in its vote account, because the ledger has no vote transactions: each slot from 1
 * on is voted for in the next one. All other fields come from the stored account.
 */
export class VoteHistory {
  readonly #sources: VoteHistorySources;
  readonly #slot: number;
  #seen: Account | null = null;
  #shown: Account | null = null;

  /** @param slot - slot in which the last vote landed. */
  constructor(slot: number, sources: VoteHistorySources) {
    this.#slot = slot;
    this.#sources = sources;
  }

  /**
   * Adds the votes to the node's vote account and returns other accounts unchanged. Equal arguments give the
   * same object.
   */
  show<Stored extends Account | null>(address: Address, stored: Stored): Stored | Account {
    if (address !== this.#sources.voteAccount || stored === null) return stored;
    if (stored !== this.#seen) {
      this.#seen = stored;
      this.#shown = this.#withVotes(stored);
    }
    return this.#shown as Account;
  }

  #withVotes(stored: Account): Account {
    const state = stored.owner === programs.vote ? decodeVoteState(stored.data) : null;
    if (state === null || this.#slot < 2) return stored;
    const data = encodeVoteState({ ...state, ...this.#votes() });
    return data.length === stored.data.length ? { ...stored, data } : stored;
  }

  #votes(): Votes {
    const last = this.#slot - 1;
    return {
      ...towerAfter(last),
      epochCredits: this.#epochCredits(),
      lastTimestamp: {
        slot: BigInt(last),
        timestamp: BigInt(this.#sources.recentBlocks.at(last)?.time ?? 0),
      },
    };
  }

  /** After the first 31 votes, each slot roots an earlier one and so earns credits. */
  #epochCredits(): Votes['epochCredits'] {
    const { slotsPerEpoch } = this.#sources;
    const creditsAt = (slot: number): bigint => BigInt(Math.max(0, slot - 1 - VOTES_MAX) * CREDITS_PER_ROOT);
    const newest = Math.floor(this.#slot / slotsPerEpoch);
    const oldest = Math.max(0, newest - EPOCH_CREDITS_MAX + 1);
    return Array.from({ length: newest - oldest + 1 }, (_, index) => oldest + index)
      .map((epoch) => ({
        epoch: BigInt(epoch),
        credits: creditsAt(Math.min(this.#slot, (epoch + 1) * slotsPerEpoch - 1)),
        previousCredits: creditsAt(epoch * slotsPerEpoch - 1),
      }))
      .filter(({ credits, previousCredits }) => credits > previousCredits);
  }
}

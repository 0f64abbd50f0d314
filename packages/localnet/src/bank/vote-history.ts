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

type OwnVotesSources = Readonly<{
  voteAccount: Address;
  recentBlocks: RecentBlocks;
  slotsPerEpoch: number;
}>;

type Votes = Pick<VoteState, 'votes' | 'rootSlot' | 'epochCredits' | 'lastTimestamp'>;

/** Votes after voting for `last`: one per slot from slot 1. */
export function ownTower(last: number): Pick<VoteState, 'votes' | 'rootSlot'> {
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
 * The node's vote state as if vote transactions existed: each slot from 1 on is voted for in the next.
 * Everything else comes from the stored account.
 */
export class OwnVotes {
  readonly #sources: OwnVotesSources;
  readonly #slot: number;
  #seen: Account | null = null;
  #shown: Account | null = null;

  /** @param slot - slot in which the last vote landed. */
  constructor(slot: number, sources: OwnVotesSources) {
    this.#slot = slot;
    this.#sources = sources;
  }

  /**
   * Replaces the node's vote account and returns others unchanged; the same object for the same stored one.
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
      ...ownTower(last),
      epochCredits: this.#epochCredits(),
      lastTimestamp: {
        slot: BigInt(last),
        timestamp: BigInt(this.#sources.recentBlocks.at(last)?.time ?? 0),
      },
    };
  }

  /** Each slot roots one after the first 31 votes. */
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

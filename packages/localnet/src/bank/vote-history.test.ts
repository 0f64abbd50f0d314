import { expect, it } from 'vitest';
import { addressFromBytes } from '../../../../src/solana/address.ts';
import { blockhashFromBytes } from '../../../../src/solana/blockhash.ts';
import { programs } from '../../../../src/solana/programs.ts';
import { lamports } from '../../../../src/solana/units.ts';
import { decodeVoteState, encodeVoteState, NO_PRIOR_VOTERS } from '../../../../src/solana/vote-state.ts';
import { account } from '../../../../test/streams/ledger-script.ts';
import { RecentBlocks } from '../history/recent-blocks.ts';
import { VoteHistory } from './vote-history.ts';

const voteAccount = addressFromBytes(new Uint8Array(32).fill(5));
const other = addressFromBytes(new Uint8Array(32).fill(6));

const stored = account({
  data: encodeVoteState({
    version: 'V3',
    node: other,
    authorizedWithdrawer: other,
    commission: 7,
    votes: [],
    rootSlot: null,
    authorizedVoters: [],
    priorVoters: NO_PRIOR_VOTERS,
    epochCredits: [],
    lastTimestamp: { slot: 0n, timestamp: 0n },
  }),
  owner: programs.vote,
});

function votesAt(slot: number, slotsPerEpoch = 100): VoteHistory {
  const recentBlocks = new RecentBlocks();
  for (let at = Math.max(0, slot - 2); at <= slot; at++) {
    const bytes = Buffer.alloc(32);
    bytes.writeUInt32LE(at);
    recentBlocks.push({ slot: at, blockhash: blockhashFromBytes(bytes), time: 1000 + at });
  }
  return new VoteHistory(slot, { voteAccount, recentBlocks, slotsPerEpoch });
}
const stateAt = (slot: number, slotsPerEpoch?: number) =>
  decodeVoteState(votesAt(slot, slotsPerEpoch).show(voteAccount, stored).data)!;

it('leaves other accounts and invalid vote states unchanged', () => {
  expect(votesAt(50).show(other, stored)).toBe(stored);
  expect(votesAt(50).show(voteAccount, null)).toBeNull();
  const wallet = { ...stored, owner: programs.system };
  expect(votesAt(50).show(voteAccount, wallet)).toBe(wallet);
  const odd = { ...stored, data: new Uint8Array(7) };
  expect(votesAt(50).show(voteAccount, odd)).toBe(odd);
});

it('returns the same object for the same account and keeps other changes', () => {
  const votes = votesAt(50);
  expect(votes.show(voteAccount, stored)).toBe(votes.show(voteAccount, stored));
  const richer = { ...stored, lamports: lamports(2) };
  expect(votes.show(voteAccount, richer).lamports).toBe(2n);
  expect(stateAt(50)).toMatchObject({ version: 'V3', commission: 7, node: other });
});

it('votes for every slot except the first, in the slot after it', () => {
  expect(stateAt(1).votes).toEqual([]);
  expect(stateAt(3)).toMatchObject({
    votes: [
      { latency: 1, slot: 1n, confirmationCount: 2 },
      { latency: 1, slot: 2n, confirmationCount: 1 },
    ],
    rootSlot: null,
    lastTimestamp: { slot: 2n, timestamp: 1002n },
  });
});

it('roots the slot before its 31 votes', () => {
  expect(stateAt(32)).toMatchObject({ rootSlot: null, epochCredits: [] });
  const state = stateAt(33);
  expect(state.rootSlot).toBe(1n);
  expect(state.votes).toHaveLength(31);
  expect(state.votes[0]).toEqual({ latency: 1, slot: 2n, confirmationCount: 31 });
});

it('earns 16 credits per root, by epoch, for the last 64 epochs', () => {
  expect(stateAt(33).epochCredits).toEqual([{ epoch: 0n, credits: 16n, previousCredits: 0n }]);
  expect(stateAt(101).epochCredits).toEqual([
    { epoch: 0n, credits: 67n * 16n, previousCredits: 0n },
    { epoch: 1n, credits: 69n * 16n, previousCredits: 67n * 16n },
  ]);
  // With 32 slots per epoch, the first epoch roots no slot.
  expect(stateAt(34, 32).epochCredits).toEqual([{ epoch: 1n, credits: 32n, previousCredits: 0n }]);
  const late = stateAt(10_050).epochCredits;
  expect(late).toHaveLength(64);
  expect(late.at(-1)).toEqual({ epoch: 100n, credits: 10_018n * 16n, previousCredits: 9_967n * 16n });
});

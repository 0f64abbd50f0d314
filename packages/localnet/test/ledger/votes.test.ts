import { Keypair } from '@solana/web3.js';
import { afterEach, describe, expect, it } from 'vitest';
import type { Account } from '../../../../src/solana/account/account.ts';
import { verifyTransaction } from '../../../../src/solana/ed25519.ts';
import { isSimpleVote } from '../../../../src/solana/transaction/simple-vote.ts';
import { lamports, slot } from '../../../../src/solana/units.ts';
import { decodeVoteState, type VoteState } from '../../../../src/solana/vote-state.ts';
import type { LedgerEvent } from '../../../../src/streams/ledger-event.ts';
import { at, Lab } from './lab.ts';

let lab: Lab;
afterEach(() => lab.close());

const blockAt = (number: number) => lab.node.history.block(slot(number))!;
const stored = (): Account => lab.node.bank('processed').account(lab.node.genesis.voteAccount)!;
const voteState = (): VoteState => decodeVoteState(stored().data)!;
const votesAt = (number: number) =>
  blockAt(number).transactions.filter(({ transaction }) => isSimpleVote(transaction));
const write = (account: Account | null, to = lab.node.genesis.voteAccount): void =>
  lab.node.writeAccounts([[to, account]]);

describe('votes of the node', () => {
  it('are in each block from slot 2 on, first, with a fee of which half is burnt', async () => {
    lab = await Lab.open();
    const before = lab.node.bank('processed').capitalization;
    const transfer = lab.transfer(lab.wallet(), Keypair.generate().publicKey, 1_000_000_000);
    lab.node.submit(transfer);
    lab.freeze(3);
    expect([0, 1, 2, 3, 4].map((number) => votesAt(number).length)).toEqual([0, 0, 1, 1, 1]);
    const [vote, other] = blockAt(2).transactions;
    expect(other?.transaction.signatures).toEqual(transfer.signatures);
    expect(verifyTransaction(vote!.transaction)).toBe(true);
    expect(vote).toMatchObject({
      transaction: { message: { recentBlockhash: blockAt(1).blockhash } },
      meta: { err: null, fee: 10_000n, computeUnitsConsumed: 2_100n },
    });
    const { identity } = lab.node.genesis;
    expect(blockAt(3).rewards).toMatchObject([{ pubkey: identity, lamports: 5_000n, rewardType: 'Fee' }]);
    const bank = lab.node.bank('processed');
    expect(bank.transactionCount).toBe(5n);
    // The airdrop and the transfer have one signature each.
    expect(before - bank.capitalization).toBe(3n * 5_000n + 2n * 2_500n);
  });

  it('are reported when they are executed', async () => {
    lab = await Lab.open();
    lab.freeze();
    const events: LedgerEvent[] = [];
    lab.node.follow((event) => events.push(event));
    lab.freeze(2);
    const { signatures } = votesAt(3)[0]!.transaction;
    expect(events.find((event) => event.kind === 'transaction' && event.slot === 3n)).toMatchObject({
      isVote: true,
      executed: { transaction: { signatures } },
    });
    expect(events.filter((event) => event.kind === 'vote')).toMatchObject([
      { vote: { slots: [1n, 2n], signature: signatures[0], hash: blockAt(2).blockhash } },
      { vote: { slots: [1n, 2n, 3n] } },
    ]);
  });

  it('count as transactions, but not as use of a slot', async () => {
    let now = 1_800_000_000_000;
    lab = await Lab.open({ now: () => now });
    lab.wallet();
    lab.freeze(2);
    now += 60_000;
    lab.freeze(2);
    const { history } = lab.node;
    expect(history.performanceSamples(9)).toEqual([{ slot: 4n, slots: 5n, transactions: 4n, nonVotes: 1n }]);
    expect(history.slotsInUse(slot(5), 9)).toEqual([1n]);
  });

  it('root the slot before 31 others and earn 16 credits for it, in every epoch', async () => {
    lab = await Lab.open({ slotsPerEpoch: 50 });
    lab.freeze(32);
    expect(voteState()).toMatchObject({ rootSlot: null, epochCredits: [] });
    expect(voteState().votes[0]).toEqual({ latency: 1, slot: 1n, confirmationCount: 31 });
    lab.freeze();
    expect(voteState().rootSlot).toBe(1n);
    lab.freeze(70);
    expect(voteState()).toMatchObject({
      rootSlot: 71n,
      epochCredits: [
        { epoch: 0n, credits: 17n * 16n, previousCredits: 0n },
        { epoch: 1n, credits: 67n * 16n, previousCredits: 17n * 16n },
        { epoch: 2n, credits: 71n * 16n, previousCredits: 67n * 16n },
      ],
    });
  });

  it('go on after a restart as if there had been none', async () => {
    lab = await Lab.open();
    lab.freeze(40);
    await lab.reopen();
    lab.freeze(3);
    const votes = Array.from({ length: 42 }, (_, index) => votesAt(index + 2));
    expect(votes.map((found) => found.map(({ meta }) => meta.err))).toEqual(votes.map(() => [null]));
    expect(voteState().votes.at(-1)).toEqual({ latency: 1, slot: 42n, confirmationCount: 1 });
    expect(voteState().rootSlot).toBe(11n);
  });

  it('pause while the identity cannot pay, and continue when it can', async () => {
    lab = await Lab.open();
    lab.freeze(10);
    const { identity } = lab.node.genesis;
    const account = lab.node.newestAccount(identity)!;
    write(null, identity);
    lab.freeze(60);
    expect(votesAt(12)).toEqual([]);
    expect(lab.node.bank('processed').slot).toBe(70n);
    write({ ...account, lamports: lamports(1_000_000_000n) }, identity);
    lab.freeze(2);
    expect(votesAt(72)[0]?.meta.err).toBeNull();
    // The lockout of slot 5, with 6 confirmations, has ended in slot 69.
    expect(voteState().votes.map((vote) => vote.slot)).toEqual([1n, 2n, 3n, 4n, 71n]);
  });

  it.each<[string, (account: Account) => Account | null]>([
    ['is removed', () => null],
    ['has another owner', (account) => ({ ...account, owner: at(Keypair.generate().publicKey) })],
    ['has no valid state', (account) => ({ ...account, data: new Uint8Array(7) })],
    ['has another authority', (account) => ({ ...account, data: new Uint8Array(account.data).fill(7, 200) })],
  ])('pause while the vote account %s', async (_, changed) => {
    lab = await Lab.open();
    lab.freeze(5);
    const account = stored();
    write(changed(account));
    lab.freeze(4);
    expect(lab.node.bank('processed').slot).toBe(9n);
    expect(votesAt(8)).toEqual([]);
    write(account);
    lab.freeze(2);
    expect(votesAt(11)[0]?.meta.err).toBeNull();
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../src/base/json.ts';
import { Keypair } from '../../../src/solana/ed25519.ts';
import { programs } from '../../../src/solana/programs.ts';
import { lamports } from '../../../src/solana/units.ts';
import { decodeVoteState, encodeVoteState } from '../../../src/solana/vote-state.ts';
import { eventually } from '../../../test/service/eventually.ts';
import { openRig, type Rig, rpcError, serdeError } from './rig.ts';
import { sign } from './signed-transactions.ts';
import { account, key, lockedStake } from './support/accounts.ts';

/** Tip 40 in epoch 1, finalized 9 in epoch 0; schedules of epochs 0 and 1 are known. */
const TIP = 40;
const FINALIZED = 9;
const SLOTS_PER_EPOCH = 32;

let ledger: Rig;
let identity: string;
beforeAll(async () => {
  ledger = await openRig({ slotsPerEpoch: SLOTS_PER_EPOCH });
  identity = ledger.node.genesis.identity;
  ledger.node.airdrop(key(60), lamports(1_000_000));
  ledger.freeze(TIP);
  const isFinalized = async (): Promise<boolean> => (await ledger.callRpc('getSlot')) === FINALIZED;
  await eventually(isFinalized, 'the ledger finalizes slot 9');
});
afterAll(() => ledger.close());

const NO_BYTES = new Uint8Array();

it('has no snapshot before the first one is written', async () => {
  const young = { snapshotSlot: () => null };
  expect(await ledger.errorWith(young, 'getHighestSnapshotSlot', [])).toEqual({
    code: -32008,
    message: 'No snapshot',
  });
});

type Method = Parameters<Rig['callRpc']>[0];

describe('getStakeMinimumDelegation', () => {
  it('matches the stake program', async () => {
    const payer = Keypair.generate();
    const own = await openRig();
    own.node.airdrop(payer.address, lamports(1_000_000_000));
    own.freeze(1);
    const bank = own.node.bank('processed');
    const instruction = { programId: programs.stake, accounts: [], data: Uint8Array.of(13, 0, 0, 0) };
    const { base64 } = sign(payer, [instruction], bank.blockhash);
    const config = { encoding: 'base64', commitment: 'processed' };
    const answer = await own.callRpc('simulateTransaction', base64, config);
    const { data } = (answer as { value: { returnData: { data: [string, string] } } }).value.returnData;
    const value = Number(Buffer.from(data[0], 'base64').readBigUInt64LE());
    expect(await own.callRpc('getStakeMinimumDelegation')).toEqual({
      context: { apiVersion: '4.2.1', slot: 0 },
      value,
    });
    await own.close();
  });
});

describe('constant results', () => {
  it('write whole inflation rates with a decimal point', async () => {
    expect(await ledger.callRpcRaw('getInflationRate', [])).toBe(
      '{"epoch":0,"foundation":0.004,"total":0.08,"validator":0.076}',
    );
  });
});

describe('leader methods', () => {
  const unavailable = (epoch: bigint | number): JsonValue =>
    rpcError(-32602, `Invalid slot range: leader schedule for epoch ${epoch} is unavailable`);

  it('return the node for every slot', async () => {
    expect(await ledger.callRpc('getSlotLeader')).toBe(identity);
    expect(await ledger.callRpc('getSlotLeaders', 60, 4)).toEqual(Array<string>(4).fill(identity));
    expect(await ledger.callRpc('getSlotLeaders', 2n ** 64n - 1n, 0)).toEqual([]);
    const schedule = { [identity]: Array.from({ length: SLOTS_PER_EPOCH }, (_, i) => i) };
    expect(await ledger.callRpc('getLeaderSchedule')).toEqual(schedule);
    expect(await ledger.callRpc('getLeaderSchedule', null, { commitment: 'processed' })).toEqual(schedule);
    expect(await ledger.callRpc('getLeaderSchedule', 63, { identity })).toEqual(schedule);
    expect(await ledger.callRpc('getLeaderSchedule', { identity })).toEqual(schedule);
    expect(await ledger.callRpc('getLeaderSchedule', { identity: key(1) }, { identity })).toEqual({});
  });

  it('reject epochs after the next', async () => {
    expect(await ledger.callRpc('getLeaderSchedule', 64)).toBeNull();
    const absurd = 2n ** 63n - 1n;
    expect(await ledger.callRpc('getLeaderSchedule', absurd)).toBeNull();
    expect(await ledger.callRpc('getSlotLeaders', absurd, 1)).toEqual(unavailable(absurd / 32n));
  });

  it('know ten epochs', async () => {
    const old = await openRig({ slotsPerEpoch: 32 });
    // The tip is in epoch 13, the root in epoch 12: 4 to 13 are known.
    await old.finalize(13 * 32);
    expect(await old.callRpc('getLeaderSchedule', 4 * 32)).not.toBeNull();
    expect(await old.callRpc('getLeaderSchedule', 4 * 32 - 1)).toBeNull();
    expect(await old.callRpc('getSlotLeaders', 4 * 32 - 1, 5)).toEqual(unavailable(3));
    const range = { firstSlot: 4 * 32 - 1, lastSlot: 4 * 32 };
    expect(await old.callRpc('getBlockProduction', { range })).toEqual(unavailable(3));
    await old.close();
  });

  it('reach back as far as the slot history', async () => {
    const slot = 3n * 1_048_576n;
    const late = { bank: () => ({ slot, epoch: slot / 32n }) };
    const range = { firstSlot: slot - 1_048_576n, lastSlot: slot };
    expect(await ledger.errorWith(late, 'getBlockProduction', [{ range }])).toEqual({
      code: -32602,
      message: `firstSlot, ${range.firstSlot}, is too small; min ${range.firstSlot + 1n}`,
    });
  });

  const noVariant = serdeError(
    'data did not match any variant of untagged enum RpcLeaderScheduleConfigWrapper',
  );
  it.each<[Method, JsonValue[], JsonValue]>([
    ['getSlotLeaders', [60, 5], unavailable(2)],
    ['getSlotLeaders', [100, 1], unavailable(3)],
    ['getSlotLeaders', [0, 5001], rpcError(-32602, 'Invalid limit; max 5000')],
    ['getLeaderSchedule', ['0'], noVariant],
    ['getLeaderSchedule', [{ identity: 5 }], noVariant],
    ['getLeaderSchedule', [null, { identity: '1' }], rpcError(-32602, 'Invalid param: WrongSize')],
  ])('%s rejects %j', async (method, params, error) => {
    expect(await ledger.callRpc(method, ...params)).toEqual(error);
  });
});

describe('getVoteAccounts', () => {
  const own = (lastVote: number, rootSlot: number, epochCredits: JsonValue): JsonValue => ({
    activatedStake: STAKE,
    commission: 0,
    epochCredits,
    epochVoteAccount: true,
    inflationRewardsCommissionBps: 0,
    lastVote,
    nodePubkey: identity,
    rootSlot,
    votePubkey: ledger.node.genesis.voteAccount,
  });
  const STAKE = 999_999_997_717_120;

  it('returns the stake of the node, which votes in every slot', async () => {
    expect(await ledger.callRpc('getVoteAccounts')).toEqual({ current: [own(8, 0, [])], delinquent: [] });
    expect(await ledger.callRpc('getVoteAccounts', { commitment: 'processed' })).toEqual({
      // Eight rooted slots with timely votes.
      current: [own(39, 8, [[1, 128, 0]])],
      delinquent: [],
    });
  });

  it('filters by vote account', async () => {
    const { voteAccount } = ledger.node.genesis;
    expect(await ledger.callRpc('getVoteAccounts', { votePubkey: voteAccount })).toMatchObject({
      current: [{ votePubkey: voteAccount }],
    });
    expect(await ledger.callRpc('getVoteAccounts', { votePubkey: key(1) })).toEqual({
      current: [],
      delinquent: [],
    });
  });

  it('lists an old voter as delinquent', async () => {
    const answer = await ledger.callRpc('getVoteAccounts', { delinquentSlotDistance: 1 });
    expect(answer).toMatchObject({ current: [], delinquent: [{ lastVote: 8 }] });
  });

  it('shows the last five epochs of another validator and rounds its commission up', async () => {
    const { genesis } = ledger.node;
    const state = decodeVoteState(
      ledger.node.bank('processed').account(genesis.voteAccount)?.data ?? NO_BYTES,
    );
    if (state?.version !== 'V4') throw new Error('the vote account is not in its newest form');
    const epochCredits = [0n, 1n, 2n, 3n, 4n, 5n].map((epoch) => ({
      epoch,
      credits: epoch + 1n,
      previousCredits: epoch,
    }));
    const votes = [{ latency: 1, slot: 5n, confirmationCount: 1 }];
    const changed = { ...state, epochCredits, votes, rootSlot: 3n, inflationRewardsCommissionBps: 799 };
    const other = await openRig({
      accounts: [[key(70), account(programs.vote, encodeVoteState(changed))]],
    });
    other.freeze(10);
    const config = { votePubkey: key(70), commitment: 'processed' };
    expect(await other.callRpc('getVoteAccounts', config)).toMatchObject({
      current: [
        {
          activatedStake: 0,
          commission: 8,
          inflationRewardsCommissionBps: 799,
          epochCredits: [1, 2, 3, 4, 5].map((epoch) => [epoch, epoch + 1, epoch]),
          lastVote: 5,
          rootSlot: 3,
        },
      ],
    });
    await other.close();
  });

  it('counts a delegation from the next epoch and keeps unstaked accounts on request', async () => {
    const voter = key(70);
    const { genesis } = ledger.node;
    const held = decodeVoteState(
      ledger.node.bank('processed').account(genesis.voteAccount)?.data ?? NO_BYTES,
    );
    if (held === null) throw new Error('the vote account cannot be read');
    const data = encodeVoteState({ ...held, votes: [], rootSlot: null, epochCredits: [] });
    const two = await openRig({
      slotsPerEpoch: SLOTS_PER_EPOCH,
      accounts: [
        [voter, account(programs.vote, data)],
        [key(71), lockedStake(voter, 7n, { locked: 0n, active: 0n })],
      ],
    });
    const at = async (config: { [name: string]: JsonValue }): Promise<JsonValue> => {
      const answer = await two.callRpc('getVoteAccounts', {
        commitment: 'processed',
        votePubkey: voter,
        ...config,
      });
      return (answer as { delinquent: JsonValue }).delinquent;
    };
    expect(await at({})).toEqual([]);
    expect(await at({ keepUnstakedDelinquents: true })).toMatchObject([
      { activatedStake: 0, epochVoteAccount: false },
    ]);
    two.freeze(SLOTS_PER_EPOCH);
    expect(await at({})).toMatchObject([{ activatedStake: 7, epochVoteAccount: true, lastVote: 0 }]);
    await two.close();
  });
});

import { createHash } from 'node:crypto';
import { ByteWriter } from '../../../../src/base/bytes.ts';
import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { type Blockhash, blockhashFromBytes } from '../../../../src/solana/blockhash.ts';
import { Keypair } from '../../../../src/solana/ed25519.ts';
import { programs, sysvarOwner, sysvars } from '../../../../src/solana/programs.ts';
import { encodeStakeState, STAKE_STATE_BYTES } from '../../../../src/solana/stake-state.ts';
import { epoch, LAMPORTS_PER_SOL, lamports, U64_MAX } from '../../../../src/solana/units.ts';
import { encodeVoteState } from '../../../../src/solana/vote-state.ts';
import { rentExemptMinimum, stakeHistoryAccount, synthesizedSysvars } from '../bank/sysvar-accounts.ts';
import { newBaseAccounts, programAccounts } from '../bank/vm.ts';
import { writeAccount } from '../history/account-codec.ts';
import { epochScheduleOf, type SlotHeader } from '../history/slot-record.ts';
import type { Genesis } from '../node.ts';
import { fixedAccounts } from './fixed-accounts.ts';

/** As in solana-test-validator. */
const IDENTITY_SOL = 500n;
const STAKE_SOL = 1_000_000n;

/** Stored in the ledger directory. */
export type GenesisKeys = Readonly<{ identity: Keypair; vote: Keypair; stake: Keypair; faucet: Keypair }>;

/** Ignored for an existing ledger. */
export type GenesisOptions = Readonly<{
  slotsPerEpoch: number;
  ticksPerSlot: number;
  slotMs: number;
  faucetSol: bigint;
  /** Additional accounts; they replace programs, but none of `fixedAccounts`, builtins, sysvars or the node's accounts. */
  accounts: readonly (readonly [Address, Account])[];
  /** Programs by address with their upgrade authority, or null; they replace accounts, as in solana-test-validator. */
  programs: readonly (readonly [Address, Uint8Array, (Address | null)?])[];
}>;

export type GenesisContent = Readonly<{
  genesis: Genesis;
  accounts: ReadonlyMap<Address, Account>;
  header: SlotHeader;
}>;

export const newGenesisKeys = (): GenesisKeys => ({
  identity: Keypair.generate(),
  vote: Keypair.generate(),
  stake: Keypair.generate(),
  faucet: Keypair.generate(),
});

/** Delegated lamports of the stake account. */
const genesisStake: bigint = STAKE_SOL * LAMPORTS_PER_SOL - rentExemptMinimum(STAKE_STATE_BYTES);

/**
 * @param creationTime - Unix seconds.
 * @throws Error when a program cannot be loaded.
 */
export function makeGenesis(
  keys: GenesisKeys,
  options: GenesisOptions,
  creationTime: number,
): GenesisContent {
  const base = newBaseAccounts().filter(([address]) => !synthesizedSysvars.has(address));
  const accounts = new Map<Address, Account>([
    ...base,
    ...options.accounts.filter(([address]) => !synthesizedSysvars.has(address)),
    ...options.programs.flatMap(([address, elf, authority = null]) =>
      programAccounts(address, elf, authority),
    ),
    ...validatorAccounts(keys, options.faucetSol),
    ...fixedAccounts(),
    ...base.filter(([, { owner }]) => owner === programs.nativeLoader),
    ...base.filter(([, { owner }]) => owner === sysvarOwner).map(withRentExemptBalance),
    [sysvars.stakeHistory, stakeHistoryAccount([])],
  ]);
  const hash = genesisHash(accounts, options, creationTime);
  const genesis: Genesis = {
    hash,
    creationTime: BigInt(creationTime),
    identity: keys.identity.address,
    voteAccount: keys.vote.address,
    stakeAccount: keys.stake.address,
    faucet: keys.faucet.address,
    epochSchedule: epochScheduleOf(options.slotsPerEpoch),
    ticksPerSlot: options.ticksPerSlot,
    slotMs: options.slotMs,
  };
  return { genesis, accounts, header: firstHeader(hash, creationTime) };
}

/** Slot 0: an empty block whose hash is the genesis hash. */
const firstHeader = (hash: Blockhash, creationTime: number): SlotHeader => ({
  slot: 0,
  blockhash: hash,
  previousBlockhash: hash,
  blockTime: creationTime,
  epochStartTime: creationTime,
  transactionCount: 0n,
});

/** Gives a sysvar its rent-exempt balance. Agave creates only this one at genesis, others later. */
const withRentExemptBalance = ([address, account]: [Address, Account]): [Address, Account] => [
  address,
  {
    ...account,
    lamports: rentExemptMinimum(account.data.length),
    rentEpoch: address === sysvars.epochRewards ? U64_MAX : 0n,
  },
];

const wallet = (sol: bigint): Account => ({
  lamports: lamports(sol * LAMPORTS_PER_SOL),
  data: new Uint8Array(),
  owner: programs.system,
  executable: false,
  rentEpoch: 0n,
});

/** Source: agave runtime/src/genesis_utils.rs, `create_genesis_config_with_leader_ex_no_features`. */
function validatorAccounts(keys: GenesisKeys, faucetSol: bigint): [Address, Account][] {
  const identity = keys.identity.address;
  const vote = encodeVoteState({
    version: 'V4',
    node: identity,
    authorizedWithdrawer: keys.vote.address,
    inflationRewardsCollector: keys.vote.address,
    blockRevenueCollector: identity,
    inflationRewardsCommissionBps: 0,
    blockRevenueCommissionBps: 10_000,
    pendingDelegatorRewards: 0n,
    blsPublicKey: null,
    votes: [],
    rootSlot: null,
    authorizedVoters: [{ epoch: 0n, voter: keys.vote.address }],
    epochCredits: [],
    lastTimestamp: { slot: 0n, timestamp: 0n },
  });
  return [
    [identity, wallet(IDENTITY_SOL)],
    [keys.vote.address, { ...wallet(STAKE_SOL), owner: programs.vote, data: vote }],
    [keys.faucet.address, wallet(faucetSol)],
    [keys.stake.address, { ...wallet(STAKE_SOL), owner: programs.stake, data: stakeState(keys) }],
  ];
}

/** Delegated before the first epoch, so that it is active at once. */
function stakeState(keys: GenesisKeys): Uint8Array {
  const authority = keys.stake.address;
  return encodeStakeState({
    type: 'delegated',
    meta: {
      rentExemptReserve: rentExemptMinimum(STAKE_STATE_BYTES),
      authorized: { staker: authority, withdrawer: authority },
      lockup: { unixTimestamp: 0n, epoch: epoch(0), custodian: programs.system },
    },
    stake: {
      delegation: {
        voter: keys.vote.address,
        stake: genesisStake,
        activationEpoch: U64_MAX,
        deactivationEpoch: U64_MAX,
        warmupCooldownRate: 0.25,
      },
      creditsObserved: 0n,
    },
    flags: 0,
  });
}

function genesisHash(
  accounts: ReadonlyMap<Address, Account>,
  options: GenesisOptions,
  creationTime: number,
): Blockhash {
  const hash = createHash('sha256').update(
    new ByteWriter()
      .i64(BigInt(creationTime))
      .u32(options.ticksPerSlot)
      .u64(BigInt(options.slotsPerEpoch))
      .finish(),
  );
  for (const [address, account] of accounts) {
    const writer = new ByteWriter(account.data.length + 128);
    writeAccount(writer, address, account);
    hash.update(writer.finish());
  }
  return blockhashFromBytes(hash.digest());
}

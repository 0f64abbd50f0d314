import { ByteWriter } from '../../../../src/base/bytes.ts';
import type { Account } from '../../../../src/solana/account/account.ts';
import { type Address, addressBytes } from '../../../../src/solana/address.ts';
import { programs } from '../../../../src/solana/programs.ts';
import { encodeStakeState, type StakeState } from '../../../../src/solana/stake-state.ts';
import { MINT_BYTES, TOKEN_ACCOUNT_BYTES } from '../../../../src/solana/token/token-state.ts';
import { lamports, U64_MAX } from '../../../../src/solana/units.ts';
import { account as accountWith, key } from '../../../../test/streams/ledger-script.ts';

export { key };

export const account = (owner: Address, data: Uint8Array): Account =>
  accountWith({ lamports: lamports(10_000_000), data, owner });

function option(writer: ByteWriter, address: Address | null): ByteWriter {
  return writer
    .u32(address === null ? 0 : 1)
    .bytes(address === null ? new Uint8Array(32) : addressBytes(address));
}

/** Without freeze authority. */
export function mint(supply: bigint, decimals: number, program: Address = programs.token): Account {
  const writer = option(new ByteWriter(MINT_BYTES), key(1)).u64(supply).u8(decimals).u8(1);
  return account(program, option(writer, null).finish());
}

export function tokenAccount(
  of: Address,
  owner: Address,
  amount: bigint,
  delegate: Address | null = null,
  program: Address = programs.token,
): Account {
  const writer = new ByteWriter(TOKEN_ACCOUNT_BYTES)
    .bytes(addressBytes(of))
    .bytes(addressBytes(owner))
    .u64(amount);
  option(writer, delegate)
    .u8(1)
    .zeros(12)
    .u64(delegate === null ? 0n : 7n);
  return account(program, option(writer, null).finish());
}

/** Locked stake, delegated from `activationEpoch`. */
export function lockedStake(
  voter: Address,
  stake: bigint,
  epochs: { locked: bigint; active: bigint },
): Account {
  const state: StakeState = {
    type: 'delegated',
    meta: {
      rentExemptReserve: 0n,
      authorized: { staker: key(1), withdrawer: key(1) },
      lockup: { unixTimestamp: 0n, epoch: epochs.locked, custodian: key(1) },
    },
    stake: {
      delegation: {
        voter,
        stake,
        activationEpoch: epochs.active,
        deactivationEpoch: U64_MAX,
        warmupCooldownRate: 0.25,
      },
      creditsObserved: 0n,
    },
    flags: 0,
  };
  return account(programs.stake, encodeStakeState(state));
}

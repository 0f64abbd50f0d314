import { ByteWriter } from '../../../../src/base/bytes.ts';
import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { nativeMint, programs, stakeConfig } from '../../../../src/solana/programs.ts';
import { LAMPORTS_PER_SOL, type Lamports, lamports } from '../../../../src/solana/units.ts';
import { rentExemptMinimum } from '../bank/sysvar-accounts.ts';
import { activeFeatures } from '../bank/vm.ts';

const FEATURE_BYTES = 9;
const FEATURE_ACTIVE = 1;

const DEFAULT_WARMUP_RATE = 0.25;
const DEFAULT_SLASH_PENALTY = 12;

function accountWith(owner: Address, data: Uint8Array, balance: Lamports, rentEpoch = 0n): Account {
  return { lamports: balance, data, owner, executable: false, rentEpoch };
}

/** Activated in slot 0. */
function featureAccount(): Account {
  const data = new ByteWriter().u8(FEATURE_ACTIVE).u64(0n).finish();
  return accountWith(programs.feature, data, rentExemptMinimum(FEATURE_BYTES));
}

/** No keys, then the configuration. */
function stakeConfigAccount(): Account {
  const data = new ByteWriter().u8(0).f64(DEFAULT_WARMUP_RATE).u8(DEFAULT_SLASH_PENALTY).finish();
  return accountWith(programs.config, data, rentExemptMinimum(data.length));
}

/** Without authorities; 9 decimals, initialized. */
function nativeMintAccount(): Account {
  const data = new ByteWriter().zeros(44).u8(9).u8(1).zeros(36).finish();
  return accountWith(programs.token, data, lamports(LAMPORTS_PER_SOL), 1n);
}

/**
 * Accounts that Agave's genesis writes over account files. Source: agave runtime/src/genesis_utils.rs,
 * `create_genesis_config_with_leader_ex`.
 */
export const fixedAccounts = (): [Address, Account][] => [
  [nativeMint, nativeMintAccount()],
  [stakeConfig, stakeConfigAccount()],
  ...activeFeatures().map((feature): [Address, Account] => [feature, featureAccount()]),
];

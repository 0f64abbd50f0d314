import { readAddress, readText } from '../bincode.ts';
import { type Variant, variant } from './variant.ts';

const createAccountAllowPrefund: Variant = (data, given) => {
  const lamports = data.u64();
  const rest = { space: data.u64(), owner: readAddress(data) };
  // The payer is named only with lamports to pay.
  const row =
    lamports === 0n
      ? variant('createAccountAllowPrefund', ['newAccount'], () => rest)
      : variant('createAccountAllowPrefund', ['newAccount', 'source'], () => ({ lamports, ...rest }));
  return row(data, given);
};

/**
 * By u32 discriminant. Lamports and space are integers. Source: transaction-status/src/parse_system.rs;
 * layouts from solana-system-interface.
 */
export const systemVariants: readonly Variant[] = [
  variant('createAccount', ['source', 'newAccount'], (data) => ({
    lamports: data.u64(),
    space: data.u64(),
    owner: readAddress(data),
  })),
  variant('assign', ['account'], (data) => ({ owner: readAddress(data) })),
  variant('transfer', ['source', 'destination'], (data) => ({ lamports: data.u64() })),
  variant('createAccountWithSeed', ['source', 'newAccount'], (data) => ({
    base: readAddress(data),
    seed: readText(data),
    lamports: data.u64(),
    space: data.u64(),
    owner: readAddress(data),
  })),
  variant('advanceNonce', ['nonceAccount', 'recentBlockhashesSysvar', 'nonceAuthority']),
  variant(
    'withdrawFromNonce',
    ['nonceAccount', 'destination', 'recentBlockhashesSysvar', 'rentSysvar', 'nonceAuthority'],
    (data) => ({ lamports: data.u64() }),
  ),
  variant('initializeNonce', ['nonceAccount', 'recentBlockhashesSysvar', 'rentSysvar'], (data) => ({
    nonceAuthority: readAddress(data),
  })),
  variant('authorizeNonce', ['nonceAccount', 'nonceAuthority'], (data) => ({
    newAuthorized: readAddress(data),
  })),
  variant('allocate', ['account'], (data) => ({ space: data.u64() })),
  // The base account signs second, but its address comes from the data.
  variant('allocateWithSeed', ['account', 'base'], (data) => ({
    base: readAddress(data),
    seed: readText(data),
    space: data.u64(),
    owner: readAddress(data),
  })),
  variant('assignWithSeed', ['account', 'base'], (data) => ({
    base: readAddress(data),
    seed: readText(data),
    owner: readAddress(data),
  })),
  variant('transferWithSeed', ['source', 'sourceBase', 'destination'], (data) => ({
    lamports: data.u64(),
    sourceSeed: readText(data),
    sourceOwner: readAddress(data),
  })),
  variant('upgradeNonce', ['nonceAccount']),
  createAccountAllowPrefund,
];

import { Failure } from '../../protocol/errors.ts';
import { type Address, compareAddresses } from '../../solana/address.ts';
import { programs, sysvars } from '../../solana/programs.ts';
import { type StakeActivation, stakeActivation, stakeHistoryLookup } from '../../solana/stake-activation.ts';
import { decodeStakeState, STAKE_STATE_BYTES, type StakeState } from '../../solana/stake-state.ts';
import { decodeClock, decodeStakeHistory } from '../../solana/sysvars.ts';
import type { Lamports } from '../../solana/units.ts';
import type { AccountAt, Chain } from '../chain/chain.ts';

/** Offsets of the authorities. Source: solana-stake-interface, `state::Meta`. */
const authorityOffsets = { staker: 12, withdrawer: 44 } as const;

const TAG_SLICE = { offset: 0, length: 4 } as const;
const INITIALIZED = 1;
const DELEGATED = 2;

type StakeStatus = 'active' | 'inactive' | 'activating' | 'deactivating';

export type StakeAccount = Readonly<{
  address: Address;
  lamports: Lamports;
  state: Extract<StakeState, { meta: unknown }>;
  activation: StakeActivation;
}>;

const NO_ACTIVATION: StakeActivation = { effective: 0n, activating: 0n, deactivating: 0n };

/** Source: solana-rpc-get-stake-activation; rest-api.md §4, "Stake accounts". */
export function stakeStatusOf({ effective, activating, deactivating }: StakeActivation): StakeStatus {
  if (deactivating > 0n) return 'deactivating';
  if (activating > 0n) return 'activating';
  return effective > 0n ? 'active' : 'inactive';
}

/** Checks the 4-byte tag but not the length, because some nodes ignore dataSlice and return more bytes. */
const hasAuthorities = ({ account: { data } }: AccountAt): boolean =>
  (data[0] === INITIALIZED || data[0] === DELEGATED) && data[1] === 0 && data[2] === 0 && data[3] === 0;

/**
 * Stake accounts whose staker or withdrawer is the wallet, sorted by address. One call reads the page together with
 * the clock and the stake history, so that all data is from the same slot.
 * @param page - starts at 1.
 */
export async function stakeAccountsOf(
  chain: Chain,
  wallet: Address,
  page: number,
  size: number,
): Promise<Readonly<{ accounts: readonly StakeAccount[]; total: number }>> {
  const scans = Object.values(authorityOffsets).map((offset) =>
    chain.programAccounts(
      programs.stake,
      [{ dataSize: STAKE_STATE_BYTES }, { memcmp: { offset, bytes: wallet } }],
      TAG_SLICE,
    ),
  );
  const found = (await Promise.all(scans)).flat().filter(hasAuthorities);
  const all = [...new Set(found.map(({ address }) => address))].sort(compareAddresses);
  const pageAddresses = all.slice((page - 1) * size, page * size);
  if (pageAddresses.length === 0) return { accounts: [], total: all.length };
  const accounts = await chain.accounts([...pageAddresses, sysvars.clock, sysvars.stakeHistory]);
  const clock = decodeClock(accounts.get(sysvars.clock)?.data ?? new Uint8Array());
  const history = decodeStakeHistory(accounts.get(sysvars.stakeHistory)?.data ?? new Uint8Array());
  if (clock === null || history === null) {
    const cause = new Error('the clock or stake history sysvar is missing or malformed');
    throw new Failure('UPSTREAM_UNAVAILABLE', { cause });
  }
  const historyLookup = stakeHistoryLookup(history);
  // Leave out accounts that were closed after the scan.
  const stakeAccounts = pageAddresses.map((address) => {
    const account = accounts.get(address);
    const state = account?.owner === programs.stake ? decodeStakeState(account.data) : null;
    if (account === undefined || state === null || !('meta' in state)) return null;
    const activation =
      'stake' in state ? stakeActivation(state.stake.delegation, clock.epoch, historyLookup) : NO_ACTIVATION;
    return { address, lamports: account.lamports, state, activation };
  });
  return { accounts: stakeAccounts.filter((account) => account !== null), total: all.length };
}

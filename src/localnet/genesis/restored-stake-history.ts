import { sysvars } from '../../solana/programs.ts';
import { stakeHistoryLookup } from '../../solana/stake-activation.ts';
import { STAKE_HISTORY_MAX } from '../../solana/sysvars.ts';
import { epoch } from '../../solana/units.ts';
import { stakeHistoryAccount } from '../bank/stake-history-account.ts';
import { type StakesView, stakeAccounts, stakeOfEpoch } from '../epoch-rewards/stake-accounts.ts';
import type { Genesis } from '../node.ts';
import type { Restored } from './restore-ledger.ts';

/**
 * The state of a ledger from before stakes were paid, given the stake history that it kept nowhere: what is staked
 * now, in every epoch that is over. The same comes out at every start until a snapshot holds the account.
 */
export function withStakeHistory(state: Restored, { epochSchedule }: Genesis): Restored {
  const { store, frozen } = state;
  const oldest = frozen[0];
  if (store.newest(sysvars.stakeHistory) !== null || oldest === undefined) return state;
  const at = oldest.header.slot;
  const view: StakesView = {
    account: (address) => store.at(address, at),
    accountsByOwner: (program) => store.find('owner', program, at),
  };
  const over = Math.floor(at / Number(epochSchedule.slotsPerEpoch));
  const stakes = [...stakeAccounts(view)];
  const entries = Array.from({ length: Math.min(over, STAKE_HISTORY_MAX) }, (_, index) =>
    stakeOfEpoch(stakes, epoch(over - 1 - index), stakeHistoryLookup([])),
  );
  const account = stakeHistoryAccount(entries);
  store.write(sysvars.stakeHistory, at, account);
  const paid = frozen.map((each) => ({
    ...each,
    accountLamports: each.accountLamports + account.lamports,
  }));
  return { ...state, frozen: paid };
}

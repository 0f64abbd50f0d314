import { describe, expect, it } from 'vitest';
import { address } from '../../../../src/solana/address.ts';
import { blockhashFromBytes } from '../../../../src/solana/blockhash.ts';
import { programs, sysvars } from '../../../../src/solana/programs.ts';
import { encodeStakeState } from '../../../../src/solana/stake-state.ts';
import { decodeStakeHistory } from '../../../../src/solana/sysvars.ts';
import { epoch, lamports, U64_MAX } from '../../../../src/solana/units.ts';
import { AccountsStore } from '../bank/accounts-store.ts';
import { StatusCache } from '../bank/status-cache.ts';
import { RecentBlocks } from '../history/recent-blocks.ts';
import { epochScheduleOf } from '../history/slot-record.ts';
import type { Genesis } from '../node.ts';
import { withStakeHistory } from './restore-ledger.ts';

const STAKE = address('Stake11111111111111111111111111111111111112');
const LAMPORTS = lamports(1_000_000_000n);
const genesis = { epochSchedule: epochScheduleOf(32) } as Genesis;
const blockhash = blockhashFromBytes(new Uint8Array(32));

/** Restart of a ledger without stored stake history, in epoch 3. */
function restored() {
  const store = new AccountsStore();
  const data = encodeStakeState({
    type: 'delegated',
    meta: {
      rentExemptReserve: 1n,
      authorized: { staker: STAKE, withdrawer: STAKE },
      lockup: { unixTimestamp: 0n, epoch: epoch(0), custodian: programs.system },
    },
    stake: {
      delegation: {
        ...{ voter: STAKE, stake: 700n, activationEpoch: U64_MAX },
        ...{ deactivationEpoch: U64_MAX, warmupCooldownRate: 0.25 },
      },
      creditsObserved: 0n,
    },
    flags: 0,
  });
  const account = { lamports: LAMPORTS, data, owner: programs.stake, executable: false, rentEpoch: U64_MAX };
  store.write(STAKE, 90, account);
  const frozen = [100, 101].map((slot) => ({
    header: {
      ...{ slot, blockhash, previousBlockhash: blockhash },
      ...{ blockTime: 0, epochStartTime: 0, transactionCount: 0n },
    },
    accountLamports: LAMPORTS as bigint,
  }));
  return { store, recentBlocks: new RecentBlocks(), statuses: new StatusCache(), frozen };
}

describe('ledger from before stake rewards', () => {
  it('gets a stake history of the current stake and its lamports', () => {
    const { store, frozen } = withStakeHistory(restored(), genesis);
    const account = store.at(sysvars.stakeHistory, 100);
    const history = decodeStakeHistory(account?.data ?? new Uint8Array());
    expect(history?.map(({ epoch: at, effective }) => [at, effective])).toEqual([
      [2n, 700n],
      [1n, 700n],
      [0n, 700n],
    ]);
    expect(account?.lamports).toBe(114_979_200n);
    expect(frozen.map(({ accountLamports }) => accountLamports)).toEqual([
      LAMPORTS + 114_979_200n,
      LAMPORTS + 114_979_200n,
    ]);
  });

  it('keeps an existing stake history', () => {
    const once = withStakeHistory(restored(), genesis);
    expect(withStakeHistory(once, genesis)).toBe(once);
  });
});

import { z } from 'zod';
import { solOf } from '../../decoding/amounts.ts';
import { type StakeAccount, stakeAccountsOf, stakeStatusOf } from '../../decoding/stake/stake-accounts.ts';
import { U64_MAX } from '../../solana/units.ts';
import { chainFailures, endpoint } from '../endpoint.ts';
import { address, commitment, network, pageFields, pageResult } from '../fields.ts';

const SIZE_MAX = 10;

const sol = (description: string) => z.number().meta({ description: `${description} SOL.` });
const epoch = (description: string) => z.number().int().nullable().meta({ description });

const stakeAccount = z.object({
  stake_account_address: z.string(),
  stake_authority_address: z.string(),
  withdraw_authority_address: z.string(),
  vote_account_address: z.string().nullable().meta({ description: 'null without a delegation.' }),
  status: z.enum(['initialized', 'delegated']),
  total_amount: sol('Balance of the account.'),
  rent: sol('Rent-exempt reserve, part of the balance.'),
  delegated_amount: sol('Delegated stake with rewards.'),
  active_amount: sol('Effective stake in this epoch.'),
  activation_epoch: epoch('null without a delegation and for genesis stakes.'),
  deactivation_epoch: epoch('null if not deactivated.'),
  state: z.enum(['active', 'inactive', 'activating', 'deactivating']),
});

/** The largest u64 means that there is no epoch. */
const epochOf = (value: bigint): number | null => (value === U64_MAX ? null : Number(value));

function toStakeAccountResult(account: StakeAccount): z.input<typeof stakeAccount> {
  const { lamports, state, activation } = account;
  const { authorized, rentExemptReserve } = state.meta;
  const delegation = 'stake' in state ? state.stake.delegation : null;
  return {
    stake_account_address: account.address,
    stake_authority_address: authorized.staker,
    withdraw_authority_address: authorized.withdrawer,
    vote_account_address: delegation?.voter ?? null,
    status: state.type,
    total_amount: solOf(lamports),
    rent: solOf(rentExemptReserve),
    delegated_amount: solOf(delegation?.stake ?? 0n),
    active_amount: solOf(activation.effective),
    activation_epoch: epochOf(delegation?.activationEpoch ?? U64_MAX),
    deactivation_epoch: epochOf(delegation?.deactivationEpoch ?? U64_MAX),
    state: stakeStatusOf(activation),
  };
}

/** Source: rest-api.md §2.6 and §4, "Stake accounts". */
export const stakeAccounts = endpoint('GET wallet/stake_accounts', {
  summary: 'List the stake accounts of a wallet',
  description:
    'Accounts whose stake or withdraw authority is the wallet, sorted by address. ' +
    '`state` follows from the stake history: stake that warms up is `activating` until all of it ' +
    'is effective; stake that cools down is `deactivating` until none is.',
  from: 'query',
  failures: chainFailures,
  fields: z.object({
    network: network(),
    wallet_address: address('The wallet.'),
    ...pageFields(SIZE_MAX, SIZE_MAX),
    commitment: commitment(),
  }),
  result: z.object({
    data: z.array(stakeAccount),
    page: pageResult.page,
    size: pageResult.size,
    total_data: pageResult.total_count,
    total_page: pageResult.total_pages,
  }),
  async handle({ wallet_address: wallet, page, size, ...read }, { chain }) {
    const { accounts, total } = await stakeAccountsOf(chain(read), wallet, page, size);
    return {
      message: 'Stake accounts fetched successfully',
      result: {
        ...{ data: accounts.map(toStakeAccountResult), page, size },
        ...{ total_data: total, total_page: Math.ceil(total / size) },
      },
    };
  },
});

import { z } from 'zod';
import { solOf } from '../../decoding/amounts.ts';
import { activityOf, type StakeAccount, stakeAccountsOf } from '../../decoding/stake/stake-accounts.ts';
import { U64_MAX } from '../../solana/units.ts';
import { endpoint } from '../endpoint.ts';
import { ofChain } from '../failures.ts';
import { address, commitment, network } from '../fields.ts';
import { pageFields, pageResult } from '../page.ts';

/** Stake accounts of a page. Spec, "Limits". */
const SIZE_MAX = 10;

const sol = (description: string) => z.number().meta({ description: `${description} SOL.` });
const epoch = (description: string) => z.number().int().nullable().meta({ description });

const stakeAccount = z.object({
  stake_account_address: z.string(),
  stake_authority_address: z.string(),
  withdraw_authority_address: z.string(),
  vote_account_address: z.string().nullable().meta({ description: 'null while nothing is delegated.' }),
  status: z.enum(['initialized', 'delegated']),
  total_amount: sol('All that is in the account.'),
  rent: sol('The part of it that keeps the account alive.'),
  delegated_amount: sol('What was delegated, with the rewards since.'),
  active_amount: sol('The part of the delegation that counts in this epoch.'),
  activation_epoch: epoch('null while nothing is delegated, and for stakes as old as the network.'),
  deactivation_epoch: epoch('null as long as the stake is not deactivated.'),
  state: z.enum(['active', 'inactive', 'activating', 'deactivating']),
});

/** An epoch, of which the largest u64 stands for none. */
const epochOf = (value: bigint): number | null => (value === U64_MAX ? null : Number(value));

function toStakeAccountResult({
  address: at,
  lamports,
  state,
  activation,
}: StakeAccount): z.input<typeof stakeAccount> {
  const { authorized, rentExemptReserve } = state.meta;
  const delegation = 'stake' in state ? state.stake.delegation : null;
  return {
    stake_account_address: at,
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
    state: activityOf(activation),
  };
}

/** Source: spec, "REST"; rest-api.md §2.6 and §4, "Stake accounts". */
export const stakeAccounts = endpoint({
  verb: 'GET',
  paths: ['/sol/v1/wallet/stake_accounts'],
  group: 'wallet',
  name: 'wallet/stake_accounts',
  summary: 'Stake accounts of a wallet, with what is delegated and what counts',
  description:
    'Accounts of which the wallet is stake authority or withdraw authority, in the order of their addresses. ' +
    '`state` follows from the stake history of the network: a stake that warms up is `activating` until all of it ' +
    'counts, one that cools down `deactivating` until nothing does.',
  from: 'query',
  failures: ofChain,
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
  async answer({ wallet_address: wallet, page, size, ...read }, { chain }) {
    const { accounts, total } = await stakeAccountsOf(
      chain(read.network, read.commitment),
      wallet,
      page,
      size,
    );
    return {
      message: 'Stake accounts fetched successfully',
      result: {
        ...{ data: accounts.map(toStakeAccountResult), page, size },
        ...{ total_data: total, total_page: Math.ceil(total / size) },
      },
    };
  },
});

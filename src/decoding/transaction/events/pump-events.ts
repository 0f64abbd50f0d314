import type { EventLayout, Fields } from './layout.ts';

const shareholder: Fields = [
  ['address', 'pubkey'],
  ['share_bps', 'u16'],
];

/** What pump.fun and PumpSwap tell alike of a trade. */
const volume: Fields = [
  ['track_volume', 'bool'],
  ['total_unclaimed_tokens', 'u64'],
  ['total_claimed_tokens', 'u64'],
  ['current_sol_volume', 'u64'],
  ['last_update_timestamp', 'i64'],
];

const paidBack: Fields = [
  ['cashback_fee_basis_points', 'u64'],
  ['cashback', 'u64'],
  ['buyback_fee_basis_points', 'u64'],
  ['buyback_fee', 'u64'],
];

const rewards: Fields = [
  ['holder_rewards_bps', 'u64'],
  ['holder_rewards', 'u64'],
  ['creator_fee_unclaimed', 'u64'],
];

/** Of pump.fun, whose coins are traded on a curve. Source: pump-fun/pump-public-docs, idl/pump.json, and what was added since. */
export const pumpEvents: readonly EventLayout[] = [
  {
    name: 'TradeEvent',
    fields: [
      ['mint', 'pubkey'],
      ['sol_amount', 'u64'],
      ['token_amount', 'u64'],
      ['is_buy', 'bool'],
      ['user', 'pubkey'],
      ['timestamp', 'i64'],
      ['virtual_sol_reserves', 'u64'],
      ['virtual_token_reserves', 'u64'],
    ],
    later: [
      ['real_sol_reserves', 'u64'],
      ['real_token_reserves', 'u64'],
      ['fee_recipient', 'pubkey'],
      ['fee_basis_points', 'u64'],
      ['fee', 'u64'],
      ['creator', 'pubkey'],
      ['creator_fee_basis_points', 'u64'],
      ['creator_fee', 'u64'],
      ...volume,
      ['ix_name', 'string'],
      ['mayhem_mode', 'bool'],
      ...paidBack,
      ['shareholders', { list: shareholder }],
      ['quote_mint', 'pubkey'],
      ['quote_amount', 'u64'],
      ['virtual_quote_reserves', 'u64'],
      ['real_quote_reserves', 'u64'],
      ...rewards,
    ],
  },
  {
    name: 'CreateEvent',
    fields: [
      ['name', 'string'],
      ['symbol', 'string'],
      ['uri', 'string'],
      ['mint', 'pubkey'],
      ['bonding_curve', 'pubkey'],
      ['user', 'pubkey'],
    ],
    later: [
      ['creator', 'pubkey'],
      ['timestamp', 'i64'],
      ['virtual_token_reserves', 'u64'],
      ['virtual_sol_reserves', 'u64'],
      ['real_token_reserves', 'u64'],
      ['token_total_supply', 'u64'],
      ['token_program', 'pubkey'],
      ['is_mayhem_mode', 'bool'],
      ['is_cashback_enabled', 'bool'],
      ['quote_mint', 'pubkey'],
      ['virtual_quote_reserves', 'u64'],
      ['creator_fee_bps', 'u64'],
      ['is_holder_reward', 'bool'],
      ['depth', 'u8'],
    ],
  },
  {
    name: 'CompleteEvent',
    fields: [
      ['user', 'pubkey'],
      ['mint', 'pubkey'],
      ['bonding_curve', 'pubkey'],
      ['timestamp', 'i64'],
    ],
    later: [['quote_mint', 'pubkey']],
  },
  {
    name: 'PostCompleteBuyEvent',
    fields: [
      ['user', 'pubkey'],
      ['mint', 'pubkey'],
      ['bonding_curve', 'pubkey'],
      ['quote_mint', 'pubkey'],
      ['timestamp', 'i64'],
      ['base_out', 'u64'],
      ['quote_in', 'u64'],
      ['fee_basis_points', 'u64'],
      ['fee', 'u64'],
      ['creator_fee_basis_points', 'u64'],
      ['creator_fee', 'u64'],
      ['buyback_fee', 'u64'],
      ['pool_base_reserves_before', 'u64'],
      ['pool_quote_reserves_before', 'u64'],
      ['pool_base_reserves_after', 'u64'],
      ['pool_quote_reserves_after', 'u64'],
    ],
    later: [],
  },
  {
    name: 'SweepBondingCurveFeeEvent',
    fields: [
      ['timestamp', 'i64'],
      ['mint', 'pubkey'],
      ['bonding_curve', 'pubkey'],
      ['quote_mint', 'pubkey'],
      ['recipient', 'pubkey'],
      ['amount', 'u64'],
      ['bucket', 'u8'],
    ],
    later: [],
  },
  {
    name: 'CompletePumpAmmMigrationEvent',
    fields: [
      ['user', 'pubkey'],
      ['mint', 'pubkey'],
      ['mint_amount', 'u64'],
      ['sol_amount', 'u64'],
      ['pool_migration_fee', 'u64'],
      ['bonding_curve', 'pubkey'],
      ['timestamp', 'i64'],
      ['pool', 'pubkey'],
    ],
    later: [['quote_mint', 'pubkey']],
  },
  {
    name: 'CollectCreatorFeeEvent',
    fields: [
      ['timestamp', 'i64'],
      ['creator', 'pubkey'],
      ['creator_fee', 'u64'],
    ],
    later: [['quote_mint', 'pubkey']],
  },
  {
    name: 'ExtendAccountEvent',
    fields: [
      ['account', 'pubkey'],
      ['user', 'pubkey'],
      ['current_size', 'u64'],
      ['new_size', 'u64'],
      ['timestamp', 'i64'],
    ],
    later: [],
  },
];

const reserves: Fields = [
  ['user_base_token_reserves', 'u64'],
  ['user_quote_token_reserves', 'u64'],
  ['pool_base_token_reserves', 'u64'],
  ['pool_quote_token_reserves', 'u64'],
];

const fees: Fields = [
  ['lp_fee_basis_points', 'u64'],
  ['lp_fee', 'u64'],
  ['protocol_fee_basis_points', 'u64'],
  ['protocol_fee', 'u64'],
];

const trader: Fields = [
  ['pool', 'pubkey'],
  ['user', 'pubkey'],
  ['user_base_token_account', 'pubkey'],
  ['user_quote_token_account', 'pubkey'],
];

const coinCreator: Fields = [
  ['coin_creator', 'pubkey'],
  ['coin_creator_fee_basis_points', 'u64'],
  ['coin_creator_fee', 'u64'],
];

/** Of PumpSwap. Source: pump-fun/pump-public-docs, idl/pump_amm.json, and what was added since. */
export const pumpAmmEvents: readonly EventLayout[] = [
  {
    name: 'BuyEvent',
    fields: [
      ['timestamp', 'i64'],
      ['base_amount_out', 'u64'],
      ['max_quote_amount_in', 'u64'],
      ...reserves,
      ['quote_amount_in', 'u64'],
      ...fees,
      ['quote_amount_in_with_lp_fee', 'u64'],
      ['user_quote_amount_in', 'u64'],
      ...trader,
      ['protocol_fee_recipient', 'pubkey'],
      ['protocol_fee_recipient_token_account', 'pubkey'],
    ],
    later: [
      ...coinCreator,
      ...volume,
      ['min_base_amount_out', 'u64'],
      ['ix_name', 'string'],
      ...paidBack,
      ['virtual_quote_reserves', 'i128'],
      ['can_boost', 'bool'],
      ['base_supply', 'u64'],
      ...rewards,
    ],
  },
  {
    name: 'SellEvent',
    fields: [
      ['timestamp', 'i64'],
      ['base_amount_in', 'u64'],
      ['min_quote_amount_out', 'u64'],
      ...reserves,
      ['quote_amount_out', 'u64'],
      ...fees,
      ['quote_amount_out_without_lp_fee', 'u64'],
      ['user_quote_amount_out', 'u64'],
      ...trader,
      ['protocol_fee_recipient', 'pubkey'],
      ['protocol_fee_recipient_token_account', 'pubkey'],
    ],
    later: [
      ...coinCreator,
      ...paidBack,
      ['virtual_quote_reserves', 'i128'],
      ['can_boost', 'bool'],
      ['base_supply', 'u64'],
      ...rewards,
    ],
  },
  {
    name: 'CreatePoolEvent',
    fields: [
      ['timestamp', 'i64'],
      ['index', 'u16'],
      ['creator', 'pubkey'],
      ['base_mint', 'pubkey'],
      ['quote_mint', 'pubkey'],
      ['base_mint_decimals', 'u8'],
      ['quote_mint_decimals', 'u8'],
      ['base_amount_in', 'u64'],
      ['quote_amount_in', 'u64'],
      ['pool_base_amount', 'u64'],
      ['pool_quote_amount', 'u64'],
      ['minimum_liquidity', 'u64'],
      ['initial_liquidity', 'u64'],
      ['lp_token_amount_out', 'u64'],
      ['pool_bump', 'u8'],
      ['pool', 'pubkey'],
      ['lp_mint', 'pubkey'],
      ['user_base_token_account', 'pubkey'],
      ['user_quote_token_account', 'pubkey'],
    ],
    later: [
      ['coin_creator', 'pubkey'],
      ['is_mayhem_mode', 'bool'],
    ],
  },
  {
    name: 'DepositEvent',
    fields: [
      ['timestamp', 'i64'],
      ['lp_token_amount_out', 'u64'],
      ['max_base_amount_in', 'u64'],
      ['max_quote_amount_in', 'u64'],
      ...reserves,
      ['base_amount_in', 'u64'],
      ['quote_amount_in', 'u64'],
      ['lp_mint_supply', 'u64'],
      ...trader,
      ['user_pool_token_account', 'pubkey'],
    ],
    later: [],
  },
  {
    name: 'WithdrawEvent',
    fields: [
      ['timestamp', 'i64'],
      ['lp_token_amount_in', 'u64'],
      ['min_base_amount_out', 'u64'],
      ['min_quote_amount_out', 'u64'],
      ...reserves,
      ['base_amount_out', 'u64'],
      ['quote_amount_out', 'u64'],
      ['lp_mint_supply', 'u64'],
      ...trader,
      ['user_pool_token_account', 'pubkey'],
    ],
    later: [],
  },
  {
    name: 'CollectCoinCreatorFeeEvent',
    fields: [
      ['timestamp', 'i64'],
      ['coin_creator', 'pubkey'],
      ['coin_creator_fee', 'u64'],
      ['coin_creator_vault_ata', 'pubkey'],
      ['coin_creator_token_account', 'pubkey'],
    ],
    later: [],
  },
  {
    name: 'SweepPoolFeeEvent',
    fields: [
      ['timestamp', 'i64'],
      ['pool', 'pubkey'],
      ['base_mint', 'pubkey'],
      ['quote_mint', 'pubkey'],
      ['recipient', 'pubkey'],
      ['payer', 'pubkey'],
      ['amount', 'u64'],
      ['bucket', 'u8'],
    ],
    later: [],
  },
];

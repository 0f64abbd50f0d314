import type { EventLayout, Fields } from './layout.ts';

const FIRST_DAMM_FEES = ['lp_fee', 'protocol_fee', 'partner_fee', 'referral_fee'];
const DAMM_FEES = ['claiming_fee', 'protocol_fee', 'compounding_fee', 'referral_fee'];
const CURVE_FEES = ['trading_fee', 'protocol_fee', 'referral_fee'];

const swapParameters2: Fields = [
  ['amount_0', 'u64'],
  ['amount_1', 'u64'],
  ['swap_mode', 'u8'],
];

const swapResult = (fees: readonly string[]): Fields => [
  ['output_amount', 'u64'],
  ['next_sqrt_price', 'u128'],
  ...fees.map((name) => [name, 'u64'] as const),
];

const swapResult2 = (fees: readonly string[]): Fields => [
  ['included_fee_input_amount', 'u64'],
  ['excluded_fee_input_amount', 'u64'],
  ['amount_left', 'u64'],
  ...swapResult(fees),
];

const swapParameters: Fields = [
  ['amount_in', 'u64'],
  ['minimum_amount_out', 'u64'],
];

const curveSwapResult: Fields = [['actual_input_amount', 'u64'], ...swapResult(CURVE_FEES)];

const binLiquidity: Fields = [
  ['lb_pair', 'pubkey'],
  ['from', 'pubkey'],
  ['position', 'pubkey'],
  ['amounts', { array: 'u64', length: 2 }],
  ['active_bin_id', 'i32'],
];

/** Of DLMM. Source: MeteoraAg/dlmm-sdk, idls/dlmm.json. */
export const dlmmEvents: readonly EventLayout[] = [
  {
    name: 'Swap',
    fields: [
      ['lb_pair', 'pubkey'],
      ['from', 'pubkey'],
      ['start_bin_id', 'i32'],
      ['end_bin_id', 'i32'],
      ['amount_in', 'u64'],
      ['amount_out', 'u64'],
      ['swap_for_y', 'bool'],
      ['fee', 'u64'],
      ['protocol_fee', 'u64'],
      ['fee_bps', 'u128'],
      ['host_fee', 'u64'],
    ],
    later: [],
  },
  {
    name: 'Swap2Evt',
    fields: [
      ['lb_pair', 'pubkey'],
      ['from', 'pubkey'],
      ['start_bin_id', 'i32'],
      ['end_bin_id', 'i32'],
      ['swap_for_y', 'bool'],
      ['fee_bps', 'u128'],
      ['amount_in', 'u64'],
      ['amount_left', 'u64'],
      ['amount_out', 'u64'],
      ['mm_fee', 'u64'],
      ['protocol_fee', 'u64'],
      ['limit_order_fee', 'u64'],
      ['host_fee', 'u64'],
      ['fees_on_input', 'bool'],
      ['fees_on_token_x', 'bool'],
    ],
    later: [],
  },
  {
    name: 'LbPairCreate',
    fields: [
      ['lb_pair', 'pubkey'],
      ['bin_step', 'u16'],
      ['token_x', 'pubkey'],
      ['token_y', 'pubkey'],
    ],
    later: [],
  },
  {
    name: 'AddLiquidity',
    fields: binLiquidity,
    later: [],
  },
  {
    name: 'RemoveLiquidity',
    fields: binLiquidity,
    later: [],
  },
  {
    name: 'PositionCreate',
    fields: [
      ['lb_pair', 'pubkey'],
      ['position', 'pubkey'],
      ['owner', 'pubkey'],
    ],
    later: [],
  },
  {
    name: 'PositionClose',
    fields: [
      ['position', 'pubkey'],
      ['owner', 'pubkey'],
    ],
    later: [],
  },
  {
    name: 'ClaimFee',
    fields: [
      ['lb_pair', 'pubkey'],
      ['position', 'pubkey'],
      ['owner', 'pubkey'],
      ['fee_x', 'u64'],
      ['fee_y', 'u64'],
    ],
    later: [],
  },
];

/** Of the first dynamic pools. Source: MeteoraAg/dynamic-bonding-curve-sdk, idl/damm-v1. */
export const dammV1Events: readonly EventLayout[] = [
  {
    name: 'Swap',
    fields: [
      ['in_amount', 'u64'],
      ['out_amount', 'u64'],
      ['trade_fee', 'u64'],
      ['protocol_fee', 'u64'],
      ['host_fee', 'u64'],
    ],
    later: [],
  },
  {
    name: 'AddLiquidity',
    fields: [
      ['lp_mint_amount', 'u64'],
      ['token_a_amount', 'u64'],
      ['token_b_amount', 'u64'],
    ],
    later: [],
  },
  {
    name: 'RemoveLiquidity',
    fields: [
      ['lp_unmint_amount', 'u64'],
      ['token_a_out_amount', 'u64'],
      ['token_b_out_amount', 'u64'],
    ],
    later: [],
  },
  {
    name: 'PoolCreated',
    fields: [
      ['lp_mint', 'pubkey'],
      ['token_a_mint', 'pubkey'],
      ['token_b_mint', 'pubkey'],
      ['pool_type', 'u8'],
      ['pool', 'pubkey'],
    ],
    later: [],
  },
];

/** Of the second dynamic pools. Source: MeteoraAg/damm-v2-sdk, src/idl/cp_amm.json. */
export const dammV2Events: readonly EventLayout[] = [
  {
    name: 'EvtSwap',
    fields: [
      ['pool', 'pubkey'],
      ['trade_direction', 'u8'],
      ['has_referral', 'bool'],
      ['params', { struct: swapParameters }],
      ['swap_result', { struct: swapResult(FIRST_DAMM_FEES) }],
      ['actual_amount_in', 'u64'],
      ['current_timestamp', 'u64'],
    ],
    later: [],
  },
  {
    name: 'EvtSwap2',
    fields: [
      ['pool', 'pubkey'],
      ['trade_direction', 'u8'],
      ['collect_fee_mode', 'u8'],
      ['has_referral', 'bool'],
      ['params', { struct: swapParameters2 }],
      ['swap_result', { struct: swapResult2(DAMM_FEES) }],
      ['included_transfer_fee_amount_in', 'u64'],
      ['included_transfer_fee_amount_out', 'u64'],
      ['excluded_transfer_fee_amount_out', 'u64'],
      ['current_timestamp', 'u64'],
      ['reserve_a_amount', 'u64'],
      ['reserve_b_amount', 'u64'],
    ],
    later: [],
  },
  {
    name: 'EvtLiquidityChange',
    fields: [
      ['pool', 'pubkey'],
      ['position', 'pubkey'],
      ['owner', 'pubkey'],
      ['token_a_amount', 'u64'],
      ['token_b_amount', 'u64'],
      ['transfer_fee_included_token_a_amount', 'u64'],
      ['transfer_fee_included_token_b_amount', 'u64'],
      ['reserve_a_amount', 'u64'],
      ['reserve_b_amount', 'u64'],
      ['liquidity_delta', 'u128'],
      ['token_a_amount_threshold', 'u64'],
      ['token_b_amount_threshold', 'u64'],
      ['change_type', 'u8'],
    ],
    later: [],
  },
];

/** Of bonding curves. Source: MeteoraAg/dynamic-bonding-curve-sdk, idl/dynamic-bonding-curve. */
export const dbcEvents: readonly EventLayout[] = [
  {
    name: 'EvtSwap',
    fields: [
      ['pool', 'pubkey'],
      ['config', 'pubkey'],
      ['trade_direction', 'u8'],
      ['has_referral', 'bool'],
      ['params', { struct: swapParameters }],
      ['swap_result', { struct: curveSwapResult }],
      ['amount_in', 'u64'],
      ['current_timestamp', 'u64'],
    ],
    later: [],
  },
  {
    name: 'EvtSwap2',
    fields: [
      ['pool', 'pubkey'],
      ['config', 'pubkey'],
      ['trade_direction', 'u8'],
      ['has_referral', 'bool'],
      ['swap_parameters', { struct: swapParameters2 }],
      ['swap_result', { struct: swapResult2(CURVE_FEES) }],
      ['quote_reserve_amount', 'u64'],
      ['migration_threshold', 'u64'],
      ['current_timestamp', 'u64'],
    ],
    later: [],
  },
  {
    name: 'EvtInitializePool',
    fields: [
      ['pool', 'pubkey'],
      ['config', 'pubkey'],
      ['creator', 'pubkey'],
      ['base_mint', 'pubkey'],
      ['pool_type', 'u8'],
      ['activation_point', 'u64'],
    ],
    later: [],
  },
  {
    name: 'EvtCurveComplete',
    fields: [
      ['pool', 'pubkey'],
      ['config', 'pubkey'],
      ['base_reserve', 'u64'],
      ['quote_reserve', 'u64'],
    ],
    later: [],
  },
];

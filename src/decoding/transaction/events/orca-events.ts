import type { EventLayout, Fields } from './layout.ts';

const position: Fields = [
  ['whirlpool', 'pubkey'],
  ['position', 'pubkey'],
  ['tick_lower_index', 'i32'],
  ['tick_upper_index', 'i32'],
];

const liquidityChange: Fields = [
  ...position,
  ['liquidity', 'u128'],
  ['token_a_amount', 'u64'],
  ['token_b_amount', 'u64'],
  ['token_a_transfer_fee', 'u64'],
  ['token_b_transfer_fee', 'u64'],
];

/** Of Whirlpools. Source: orca-so/whirlpools, programs/whirlpool/src/events.rs. */
export const orcaEvents: readonly EventLayout[] = [
  {
    name: 'Traded',
    fields: [
      ['whirlpool', 'pubkey'],
      ['a_to_b', 'bool'],
      ['pre_sqrt_price', 'u128'],
      ['post_sqrt_price', 'u128'],
      ['input_amount', 'u64'],
      ['output_amount', 'u64'],
      ['input_transfer_fee', 'u64'],
      ['output_transfer_fee', 'u64'],
      ['lp_fee', 'u64'],
      ['protocol_fee', 'u64'],
    ],
    later: [],
  },
  {
    name: 'PoolInitialized',
    fields: [
      ['whirlpool', 'pubkey'],
      ['whirlpools_config', 'pubkey'],
      ['token_mint_a', 'pubkey'],
      ['token_mint_b', 'pubkey'],
      ['tick_spacing', 'u16'],
      ['token_program_a', 'pubkey'],
      ['token_program_b', 'pubkey'],
      ['decimals_a', 'u8'],
      ['decimals_b', 'u8'],
      ['initial_sqrt_price', 'u128'],
    ],
    later: [],
  },
  {
    name: 'PositionOpened',
    fields: position,
    later: [],
  },
  {
    name: 'LiquidityIncreased',
    fields: liquidityChange,
    later: [],
  },
  {
    name: 'LiquidityDecreased',
    fields: liquidityChange,
    later: [],
  },
];

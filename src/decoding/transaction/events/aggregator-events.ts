import type { EventLayout, Fields } from './layout.ts';

const swapOfRoute: Fields = [
  ['input_mint', 'pubkey'],
  ['input_amount', 'u64'],
  ['output_mint', 'pubkey'],
  ['output_amount', 'u64'],
];

/** Of Jupiter v6. Source: its IDL on the chain; rest-api.md §3.2. */
export const jupiterEvents: readonly EventLayout[] = [
  { name: 'SwapEvent', fields: [['amm', 'pubkey'], ...swapOfRoute], later: [] },
  {
    name: 'SwapsEvent',
    fields: [['swap_events', { list: swapOfRoute }]],
    later: [],
  },
  {
    name: 'FeeEvent',
    fields: [
      ['account', 'pubkey'],
      ['mint', 'pubkey'],
      ['amount', 'u64'],
    ],
    later: [],
  },
];

const dcaOrder: Fields = [
  ['user_key', 'pubkey'],
  ['dca_key', 'pubkey'],
  ['in_deposited', 'u64'],
  ['input_mint', 'pubkey'],
  ['output_mint', 'pubkey'],
  ['cycle_frequency', 'i64'],
  ['in_amount_per_cycle', 'u64'],
  ['created_at', 'i64'],
];

/** Of Jupiter's orders over time. Source: its IDL on the chain. */
export const jupiterDcaEvents: readonly EventLayout[] = [
  {
    name: 'Opened',
    fields: dcaOrder,
    later: [],
  },
  {
    name: 'Closed',
    fields: [
      ...dcaOrder,
      ['total_in_withdrawn', 'u64'],
      ['total_out_withdrawn', 'u64'],
      ['unfilled_amount', 'u64'],
      ['user_closed', 'bool'],
    ],
    later: [],
  },
];

/** Of the OKX router. `dex` is the number of the program in its own list. Source: its logs, rest-api.md §3.2. */
export const okxEvents: readonly EventLayout[] = [
  {
    name: 'SwapEvent',
    fields: [
      ['dex', 'u8'],
      ['amount_in', 'u64'],
      ['amount_out', 'u64'],
    ],
    later: [],
  },
];

import type { WritableJson } from '../../../base/json.ts';
import { type EventLayout, type Fields, readLayout } from './layout.ts';

/** What stands before the bytes in base64. Source: raydium-io/raydium-amm, program/src/log.rs. */
export const RAY_LOG_PREFIX = 'Program log: ray_log: ';

const u64s = (...names: string[]): Fields => names.map((name) => [name, 'u64'] as const);
const pool: Fields = u64s('pool_coin', 'pool_pc');
const poolWithProfit: Fields = [...pool, ...u64s('pool_lp'), ['calc_pnl_x', 'u128'], ['calc_pnl_y', 'u128']];
const logged = (name: string, ...fields: Fields): EventLayout => ({
  name,
  fields: [['log_type', 'u8'], ...fields],
  later: [],
});

/** The layouts of Raydium's own log, by `log_type`, the first byte; as `eventTables`, for who writes such logs. */
export const rayLogLayouts: readonly EventLayout[] = [
  logged(
    'InitLog',
    ...u64s('time'),
    ['pc_decimals', 'u8'],
    ['coin_decimals', 'u8'],
    ...u64s('pc_lot_size', 'coin_lot_size', 'pc_amount', 'coin_amount'),
    ['market', 'pubkey'],
  ),
  logged(
    'DepositLog',
    ...u64s('max_coin', 'max_pc', 'base'),
    ...poolWithProfit,
    ...u64s('deduct_coin', 'deduct_pc', 'mint_lp'),
  ),
  logged('WithdrawLog', ...u64s('withdraw_lp', 'user_lp'), ...poolWithProfit, ...u64s('out_coin', 'out_pc')),
  logged(
    'SwapBaseInLog',
    ...u64s('amount_in', 'minimum_out', 'direction', 'user_source'),
    ...pool,
    ...u64s('out_amount'),
  ),
  logged(
    'SwapBaseOutLog',
    ...u64s('max_in', 'amount_out', 'direction', 'user_source'),
    ...pool,
    ...u64s('deduct_in'),
  ),
];

/** What a pool of Raydium v4 logged; null for bytes that are none of its logs. */
export function readRayLog(bytes: Uint8Array): { name: string; data: Record<string, WritableJson> } | null {
  const layout = rayLogLayouts[bytes[0] ?? rayLogLayouts.length];
  const data = layout === undefined ? null : readLayout(bytes, layout);
  return layout === undefined || data === null ? null : { name: layout.name, data };
}

import type { WritableJson } from '../../../base/json.ts';
import { type EventLayout, parseLayouts, readLayout } from './layout.ts';

/** Source: raydium-io/raydium-amm, program/src/log.rs. */
export const RAY_LOG_PREFIX = 'Program log: ray_log: ';

/** By `log_type`, the first byte. */
export const rayLogLayouts: readonly EventLayout[] = parseLayouts(`
  InitLog: log_type u8, time u64, pc_decimals coin_decimals u8, pc_lot_size coin_lot_size pc_amount
    coin_amount u64, market pubkey;
  DepositLog: log_type u8, max_coin max_pc base pool_coin pool_pc pool_lp u64, calc_pnl_x calc_pnl_y u128,
    deduct_coin deduct_pc mint_lp u64;
  WithdrawLog: log_type u8, withdraw_lp user_lp pool_coin pool_pc pool_lp u64, calc_pnl_x calc_pnl_y u128,
    out_coin out_pc u64;
  SwapBaseInLog: log_type u8, amount_in minimum_out direction user_source pool_coin pool_pc out_amount u64;
  SwapBaseOutLog: log_type u8, max_in amount_out direction user_source pool_coin pool_pc deduct_in u64;
`);

export function readRayLog(bytes: Uint8Array): { name: string; data: Record<string, WritableJson> } | null {
  const layout = rayLogLayouts[bytes[0] ?? rayLogLayouts.length];
  const data = layout === undefined ? null : readLayout(bytes, layout);
  return layout === undefined || data === null ? null : { name: layout.name, data };
}

import type { Address } from '../../../solana/address.ts';
import { appPrograms } from '../../program-addresses.ts';
import { type EventLayout, eventDiscriminator, parseLayouts } from './layout.ts';

/** Event layouts in the notation of `parseLayouts`. */
const layoutTexts: Readonly<Partial<Record<keyof typeof appPrograms, string>>> = {
  jupiterV6: `
    SwapEvent: amm input_mint pubkey, input_amount u64, output_mint pubkey, output_amount u64;
    SwapsEvent: swap_events [input_mint pubkey, input_amount u64, output_mint pubkey, output_amount u64];
    FeeEvent: account mint pubkey, amount u64;
  `,
  jupiterDca: `
    Opened: user_key dca_key pubkey, in_deposited u64, input_mint output_mint pubkey, cycle_frequency i64,
        in_amount_per_cycle u64, created_at i64;
    Closed: user_key dca_key pubkey, in_deposited u64, input_mint output_mint pubkey, cycle_frequency i64,
        in_amount_per_cycle u64, created_at i64, total_in_withdrawn total_out_withdrawn unfilled_amount u64,
        user_closed bool;
  `,
  // `dex` indexes the router's own list of exchanges. Sources: logs of the OKX router; rest-api.md §3.2.
  okxRouter: `
    SwapEvent: dex u8, amount_in amount_out u64;
  `,
  // Source: raydium-io/raydium-clmm, its `#[event]` structs.
  raydiumClmm: `
    SwapEvent: pool_state sender token_account_0 token_account_1 pubkey, amount_0 transfer_fee_0 amount_1
        transfer_fee_1 u64, zero_for_one bool, sqrt_price_x64 liquidity u128, tick i32;
    PoolCreatedEvent: token_mint_0 token_mint_1 pubkey, tick_spacing u16, pool_state pubkey, sqrt_price_x64
        u128, tick i32, token_vault_0 token_vault_1 pubkey;
    CreatePersonalPositionEvent: pool_state minter nft_owner pubkey, tick_lower_index tick_upper_index i32,
        liquidity u128, deposit_amount_0 deposit_amount_1 deposit_amount_0_transfer_fee
        deposit_amount_1_transfer_fee u64;
    IncreaseLiquidityEvent: position_nft_mint pubkey, liquidity u128, amount_0 amount_1 amount_0_transfer_fee
        amount_1_transfer_fee u64;
    DecreaseLiquidityEvent: position_nft_mint pubkey, liquidity u128, decrease_amount_0 decrease_amount_1
        fee_amount_0 fee_amount_1 u64, reward_amounts u64*3, transfer_fee_0 transfer_fee_1 u64;
    LiquidityCalculateEvent: pool_liquidity pool_sqrt_price_x64 u128, pool_tick i32, calc_amount_0
        calc_amount_1 trade_fee_owed_0 trade_fee_owed_1 transfer_fee_0 transfer_fee_1 u64;
    LiquidityChangeEvent: pool_state pubkey, tick tick_lower tick_upper i32, liquidity_before liquidity_after
        u128;
    CollectPersonalFeeEvent: position_nft_mint recipient_token_account_0 recipient_token_account_1 pubkey,
        amount_0 amount_1 u64;
  `,
  // Source: raydium-io/raydium-cp-swap, states/events.rs.
  raydiumCpmm: `
    SwapEvent: pool_id pubkey, input_vault_before output_vault_before input_amount output_amount
        input_transfer_fee output_transfer_fee u64, base_input bool | input_mint output_mint pubkey, trade_fee
        creator_fee u64, creator_fee_on_input bool;
    LpChangeEvent: pool_id pubkey, lp_amount_before token_0_vault_before token_1_vault_before token_0_amount
        token_1_amount token_0_transfer_fee token_1_transfer_fee u64, change_type u8;
  `,
  // Source: orca-so/whirlpools, programs/whirlpool/src/events.rs.
  whirlpools: `
    Traded: whirlpool pubkey, a_to_b bool, pre_sqrt_price post_sqrt_price u128, input_amount output_amount
        input_transfer_fee output_transfer_fee lp_fee protocol_fee u64;
    PoolInitialized: whirlpool whirlpools_config token_mint_a token_mint_b pubkey, tick_spacing u16,
        token_program_a token_program_b pubkey, decimals_a decimals_b u8, initial_sqrt_price u128;
    PositionOpened: whirlpool position pubkey, tick_lower_index tick_upper_index i32;
    LiquidityIncreased: whirlpool position pubkey, tick_lower_index tick_upper_index i32, liquidity u128,
        token_a_amount token_b_amount token_a_transfer_fee token_b_transfer_fee u64;
    LiquidityDecreased: whirlpool position pubkey, tick_lower_index tick_upper_index i32, liquidity u128,
        token_a_amount token_b_amount token_a_transfer_fee token_b_transfer_fee u64;
  `,
  // Source: MeteoraAg/dlmm-sdk, idls/dlmm.json.
  meteoraDlmm: `
    Swap: lb_pair from pubkey, start_bin_id end_bin_id i32, amount_in amount_out u64, swap_for_y bool, fee
        protocol_fee u64, fee_bps u128, host_fee u64;
    Swap2Evt: lb_pair from pubkey, start_bin_id end_bin_id i32, swap_for_y bool, fee_bps u128, amount_in
        amount_left amount_out mm_fee protocol_fee limit_order_fee host_fee u64, fees_on_input fees_on_token_x
        bool;
    LbPairCreate: lb_pair pubkey, bin_step u16, token_x token_y pubkey;
    AddLiquidity: lb_pair from position pubkey, amounts u64*2, active_bin_id i32;
    RemoveLiquidity: lb_pair from position pubkey, amounts u64*2, active_bin_id i32;
    PositionCreate: lb_pair position owner pubkey;
    PositionClose: position owner pubkey;
    ClaimFee: lb_pair position owner pubkey, fee_x fee_y u64;
  `,
  // Source: MeteoraAg/dynamic-bonding-curve-sdk, idl/damm-v1.
  meteoraDammV1: `
    Swap: in_amount out_amount trade_fee protocol_fee host_fee u64;
    AddLiquidity: lp_mint_amount token_a_amount token_b_amount u64;
    RemoveLiquidity: lp_unmint_amount token_a_out_amount token_b_out_amount u64;
    PoolCreated: lp_mint token_a_mint token_b_mint pubkey, pool_type u8, pool pubkey;
  `,
  // Source: MeteoraAg/damm-v2-sdk, src/idl/cp_amm.json.
  meteoraDammV2: `
    EvtSwap: pool pubkey, trade_direction u8, has_referral bool, params (amount_in minimum_amount_out u64),
        swap_result (output_amount u64, next_sqrt_price u128, lp_fee protocol_fee partner_fee referral_fee
        u64), actual_amount_in current_timestamp u64;
    EvtSwap2: pool pubkey, trade_direction collect_fee_mode u8, has_referral bool, params (amount_0 amount_1
        u64, swap_mode u8), swap_result (included_fee_input_amount excluded_fee_input_amount amount_left
        output_amount u64, next_sqrt_price u128, claiming_fee protocol_fee compounding_fee referral_fee u64),
        included_transfer_fee_amount_in included_transfer_fee_amount_out excluded_transfer_fee_amount_out
        current_timestamp reserve_a_amount reserve_b_amount u64;
    EvtLiquidityChange: pool position owner pubkey, token_a_amount token_b_amount
        transfer_fee_included_token_a_amount transfer_fee_included_token_b_amount reserve_a_amount
        reserve_b_amount u64, liquidity_delta u128, token_a_amount_threshold token_b_amount_threshold u64,
        change_type u8;
  `,
  // Source: MeteoraAg/dynamic-bonding-curve-sdk, idl/dynamic-bonding-curve.
  meteoraDbc: `
    EvtSwap: pool config pubkey, trade_direction u8, has_referral bool, params (amount_in minimum_amount_out
        u64), swap_result (actual_input_amount output_amount u64, next_sqrt_price u128, trading_fee
        protocol_fee referral_fee u64), amount_in current_timestamp u64;
    EvtSwap2: pool config pubkey, trade_direction u8, has_referral bool, swap_parameters (amount_0 amount_1
        u64, swap_mode u8), swap_result (included_fee_input_amount excluded_fee_input_amount amount_left
        output_amount u64, next_sqrt_price u128, trading_fee protocol_fee referral_fee u64),
        quote_reserve_amount migration_threshold current_timestamp u64;
    EvtInitializePool: pool config creator base_mint pubkey, pool_type u8, activation_point u64;
    EvtCurveComplete: pool config pubkey, base_reserve quote_reserve u64;
  `,
  pumpFun: `
    TradeEvent: mint pubkey, sol_amount token_amount u64, is_buy bool, user pubkey, timestamp i64,
        virtual_sol_reserves virtual_token_reserves u64 | real_sol_reserves real_token_reserves u64,
        fee_recipient pubkey, fee_basis_points fee u64, creator pubkey, creator_fee_basis_points creator_fee
        u64, track_volume bool, total_unclaimed_tokens total_claimed_tokens current_sol_volume u64,
        last_update_timestamp i64, ix_name string, mayhem_mode bool, cashback_fee_basis_points cashback
        buyback_fee_basis_points buyback_fee u64, shareholders [address pubkey, share_bps u16], quote_mint
        pubkey, quote_amount virtual_quote_reserves real_quote_reserves holder_rewards_bps holder_rewards
        creator_fee_unclaimed u64;
    CreateEvent: name symbol uri string, mint bonding_curve user pubkey | creator pubkey, timestamp i64,
        virtual_token_reserves virtual_sol_reserves real_token_reserves token_total_supply u64, token_program
        pubkey, is_mayhem_mode is_cashback_enabled bool, quote_mint pubkey, virtual_quote_reserves
        creator_fee_bps u64, is_holder_reward bool, depth u8;
    CompleteEvent: user mint bonding_curve pubkey, timestamp i64 | quote_mint pubkey;
    PostCompleteBuyEvent: user mint bonding_curve quote_mint pubkey, timestamp i64, base_out quote_in
        fee_basis_points fee creator_fee_basis_points creator_fee buyback_fee pool_base_reserves_before
        pool_quote_reserves_before pool_base_reserves_after pool_quote_reserves_after u64;
    SweepBondingCurveFeeEvent: timestamp i64, mint bonding_curve quote_mint recipient pubkey, amount u64,
        bucket u8;
    CompletePumpAmmMigrationEvent: user mint pubkey, mint_amount sol_amount pool_migration_fee u64,
        bonding_curve pubkey, timestamp i64, pool pubkey | quote_mint pubkey;
    CollectCreatorFeeEvent: timestamp i64, creator pubkey, creator_fee u64 | quote_mint pubkey;
    ExtendAccountEvent: account user pubkey, current_size new_size u64, timestamp i64;
  `,
  pumpAmm: `
    BuyEvent: timestamp i64, base_amount_out max_quote_amount_in user_base_token_reserves
        user_quote_token_reserves pool_base_token_reserves pool_quote_token_reserves quote_amount_in
        lp_fee_basis_points lp_fee protocol_fee_basis_points protocol_fee quote_amount_in_with_lp_fee
        user_quote_amount_in u64, pool user user_base_token_account user_quote_token_account
        protocol_fee_recipient protocol_fee_recipient_token_account pubkey | coin_creator pubkey,
        coin_creator_fee_basis_points coin_creator_fee u64, track_volume bool, total_unclaimed_tokens
        total_claimed_tokens current_sol_volume u64, last_update_timestamp i64, min_base_amount_out u64,
        ix_name string, cashback_fee_basis_points cashback buyback_fee_basis_points buyback_fee u64,
        virtual_quote_reserves i128, can_boost bool, base_supply holder_rewards_bps holder_rewards
        creator_fee_unclaimed u64;
    SellEvent: timestamp i64, base_amount_in min_quote_amount_out user_base_token_reserves
        user_quote_token_reserves pool_base_token_reserves pool_quote_token_reserves quote_amount_out
        lp_fee_basis_points lp_fee protocol_fee_basis_points protocol_fee quote_amount_out_without_lp_fee
        user_quote_amount_out u64, pool user user_base_token_account user_quote_token_account
        protocol_fee_recipient protocol_fee_recipient_token_account pubkey | coin_creator pubkey,
        coin_creator_fee_basis_points coin_creator_fee cashback_fee_basis_points cashback
        buyback_fee_basis_points buyback_fee u64, virtual_quote_reserves i128, can_boost bool, base_supply
        holder_rewards_bps holder_rewards creator_fee_unclaimed u64;
    CreatePoolEvent: timestamp i64, index u16, creator base_mint quote_mint pubkey, base_mint_decimals
        quote_mint_decimals u8, base_amount_in quote_amount_in pool_base_amount pool_quote_amount
        minimum_liquidity initial_liquidity lp_token_amount_out u64, pool_bump u8, pool lp_mint
        user_base_token_account user_quote_token_account pubkey | coin_creator pubkey, is_mayhem_mode bool;
    DepositEvent: timestamp i64, lp_token_amount_out max_base_amount_in max_quote_amount_in
        user_base_token_reserves user_quote_token_reserves pool_base_token_reserves pool_quote_token_reserves
        base_amount_in quote_amount_in lp_mint_supply u64, pool user user_base_token_account
        user_quote_token_account user_pool_token_account pubkey;
    WithdrawEvent: timestamp i64, lp_token_amount_in min_base_amount_out min_quote_amount_out
        user_base_token_reserves user_quote_token_reserves pool_base_token_reserves pool_quote_token_reserves
        base_amount_out quote_amount_out lp_mint_supply u64, pool user user_base_token_account
        user_quote_token_account user_pool_token_account pubkey;
    CollectCoinCreatorFeeEvent: timestamp i64, coin_creator pubkey, coin_creator_fee u64,
        coin_creator_vault_ata coin_creator_token_account pubkey;
    SweepPoolFeeEvent: timestamp i64, pool base_mint quote_mint recipient payer pubkey, amount u64, bucket u8;
  `,
};

export const eventTables: ReadonlyMap<Address, ReadonlyMap<string, EventLayout>> = new Map(
  Object.entries(layoutTexts).map(([program, text]) => [
    appPrograms[program as keyof typeof appPrograms],
    new Map(parseLayouts(text).map((layout) => [eventDiscriminator(layout.name), layout])),
  ]),
);

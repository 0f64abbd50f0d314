import { type Address, address } from '../../../solana/address.ts';
import { appPrograms } from '../../program-addresses.ts';
import { leadingHex, parsePositions } from '../events/layout.ts';

/** Account positions in a swap instruction; negative positions count from the end. */
type SwapInstruction = Readonly<{ pool: number | null; trader: number | null }>;

/** A router may deduct a fee from the swap; a wrapper forwards a swap and charges a separate fee. */
type DexKind = 'pool' | 'router' | 'wrapper';

export type DexProgram = Readonly<{
  kind: DexKind;
  protocol: string;
  source: string;
  /** Keyed by the leading instruction bytes in hex; null if every exchange through the program is a swap. */
  swaps: ReadonlyMap<string, SwapInstruction> | null;
}>;

const swapsOf = (rows: string): ReadonlyMap<string, SwapInstruction> =>
  new Map(parsePositions(rows).map(([key, [pool = null, trader = null]]) => [key, { pool, trader }]));

const dex = (
  kind: DexKind,
  protocol: string,
  source: string,
  swaps: DexProgram['swaps'] = null,
): DexProgram => ({ kind, protocol, source, swaps });

/** Source: raydium-io/raydium-amm, program/src/instruction.rs; the trader is the last account. */
const raydiumV4Swaps = swapsOf('9 1 -1, 11 1 -1, 16 1 7, 17 1 7');
/** Source: raydium-io/raydium-idl. */
const clmmSwaps = swapsOf('swap 2 0, swap_v2 2 0, swap_router_base_in - 0');
const cpmmSwaps = swapsOf('swap_base_input 3 0, swap_base_output 3 0');
const launchLabSwaps = swapsOf('buy_exact_in 4 0, buy_exact_out 4 0, sell_exact_in 4 0, sell_exact_out 4 0');
/** Source: orca-so/whirlpools, programs/whirlpool/src/instructions. Two-hop swaps have two pools. */
const whirlpoolSwaps = swapsOf('swap 2 1, swap_v2 4 3, two_hop_swap - 1, two_hop_swap_v2 - 14');
/** Source: MeteoraAg/dlmm-sdk, damm-v2-sdk and dynamic-bonding-curve-sdk. */
const dlmmSwaps = swapsOf(`
  swap 0 10, swap2 0 10, swap_exact_out 0 10, swap_exact_out2 0 10, swap_with_price_impact 0 10,
  swap_with_price_impact2 0 10
`);
const dammV1Swaps = swapsOf('swap 0 12');
const dammV2Swaps = swapsOf('swap 1 8, swap2 1 8');
const dbcSwaps = swapsOf('swap 2 9, swap2 2 9');
/** Source: pump-fun/pump-public-docs, idl and docs/instructions. */
const pumpSwaps = swapsOf(`
  buy 3 6, sell 3 6, buy_exact_sol_in 3 6, buy_v2 10 13, sell_v2 10 13, buy_exact_quote_in_v2 10 13,
  buy_v3 5 8, sell_v3 5 8, buy_exact_quote_in_v3 5 8
`);
const pumpAmmSwaps = swapsOf(`
  buy 0 1, sell 0 1, buy_exact_quote_in 0 1, buy_v2 0 1, sell_v2 0 1, buy_exact_quote_in_v2 0 1
`);
/** Source: Ellipsis-Labs/phoenix-v1, `PhoenixInstruction`: `Swap` and `SwapWithFreeFunds`. */
const phoenixSwaps = swapsOf('0 2 3, 1 2 3');
/** Source: solana-program-library, token-swap: `Swap`. Saber and Orca's first pools use the same layout. */
const tokenSwaps = swapsOf('1 0 2');

/** Source: rest-api.md §3.2; jup-ag/instruction-parser. The trader is the transfer authority. */
const jupiterSwaps = swapsOf(`
  route - 1, route_with_token_ledger - 1, exact_out_route - 1, shared_accounts_route - 2,
  shared_accounts_route_with_token_ledger - 2, shared_accounts_exact_out_route - 2, route_v2 - 0,
  exact_out_route_v2 - 0, shared_accounts_route_v2 - 1, shared_accounts_exact_out_route_v2 - 1
`);

const rows: readonly (readonly [address: string, program: DexProgram])[] = [
  [appPrograms.jupiterV6, dex('router', 'JUPITER_V_6', 'Jupiter', jupiterSwaps)],
  ['JUP4Fb2cqiRUcaTHdrPC8h2gNsA2ETXiPDD33WcGuJB', dex('router', 'JUPITER_V_4', 'Jupiter')],
  [appPrograms.okxRouter, dex('router', 'OKX_DEX_ROUTER', 'OKX')],
  ['proVF4pMXVaYqmy4NjniPh4pqKNfMmsihgd4wdkCX3u', dex('router', 'OKX_DEX_ROUTER', 'OKX')],
  ['DF1ow4tspfHX9JwWJsAb9epbkA8hmpSEAtxXy1V27QBH', dex('router', 'DFLOW_AGGREGATOR', 'DFlow')],
  ['T1TANpTeScyeqVzzgNViGDNrkQ6qHz9KrSBS4aNXvGT', dex('router', 'TITAN', 'Titan')],
  ['routeUGWgWzqBWFcrCfv8tritsqukccJPu3q5GPP3xS', dex('router', 'RAYDIUM_ROUTER', 'Raydium')],
  ['BSfD6SHZigAfDWSjzD5Q41jw8LmKwtmjskPH9XW1mrRW', dex('wrapper', 'PHOTON', 'Photon')],
  ['BANANAjs7FJiPQqJTGFzkZJndT9o7UmKiYYGaJz6frGu', dex('wrapper', 'BANANA_GUN', 'Banana Gun')],
  ['b1oomGGqPKGD6errbyfbVMBuzSC8WtAAYo8MwNafWW1', dex('wrapper', 'BLOOM', 'Bloom')],
  ['MaestroAAe9ge5HTc64VbBQZ6fP77pwvrhM8i1XWSAx', dex('wrapper', 'MAESTRO', 'Maestro')],
  ['FLASHX8DrLbgeR8FcfNV1F5krxYcYMUdBkrP1EPBtxB9', dex('wrapper', 'AXIOM', 'Axiom')],
  [appPrograms.raydiumV4, dex('pool', 'RAYDIUM_AMM', 'Raydium', raydiumV4Swaps)],
  [appPrograms.raydiumClmm, dex('pool', 'RAYDIUM_CLMM', 'Raydium CLMM', clmmSwaps)],
  [appPrograms.raydiumCpmm, dex('pool', 'RAYDIUM_CPMM', 'Raydium CPMM', cpmmSwaps)],
  [
    'LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj',
    dex('pool', 'RAYDIUM_LAUNCHLAB', 'Raydium LaunchLab', launchLabSwaps),
  ],
  [appPrograms.whirlpools, dex('pool', 'ORCA_WHIRLPOOLS', 'Orca', whirlpoolSwaps)],
  ['9W959DqEETiGZocYWCQPaJ6sBmUzgfxXfqGeTEdp3aQP', dex('pool', 'ORCA_TOKEN_SWAP', 'Orca', tokenSwaps)],
  [appPrograms.meteoraDlmm, dex('pool', 'METEORA_DLMM', 'Meteora DLMM', dlmmSwaps)],
  [appPrograms.meteoraDammV1, dex('pool', 'METEORA_DAMM_V1', 'Meteora', dammV1Swaps)],
  [appPrograms.meteoraDammV2, dex('pool', 'METEORA_DAMM_V2', 'Meteora DAMM v2', dammV2Swaps)],
  [appPrograms.meteoraDbc, dex('pool', 'METEORA_DBC', 'Meteora DBC', dbcSwaps)],
  [appPrograms.pumpFun, dex('pool', 'PUMP_FUN', 'Pump.fun', pumpSwaps)],
  [appPrograms.pumpAmm, dex('pool', 'PUMP_FUN_AMM', 'Pump.fun AMM', pumpAmmSwaps)],
  ['PhoeNiXZ8ByJGLkxNfZRnkUfjvmuYqLR89jjFHGqdXY', dex('pool', 'PHOENIX', 'Phoenix', phoenixSwaps)],
  ['SSwpkEEcbUqx4vtoEByFjSkhKdCT862DNVb52nZg1UZ', dex('pool', 'SABER', 'Saber', swapsOf('1 0 1'))],
  [
    'HyaB3W9q6XdA5xwpU4XnSZV94htfmbmqJXZcEbRaJutt',
    dex('pool', 'INVARIANT', 'Invariant', swapsOf('swap 1 -')),
  ],
  [
    '2wT8Yq49kHgDzXuPxZSaeLaH1qbmGXtEyPy64bL7aD3c',
    dex('pool', 'LIFINITY_V2', 'Lifinity V2', swapsOf('swap 1 2')),
  ],
  ['SoLFiHG9TfgtdUXUjWAxi3LtvYuFyDLVhBWxdMZxyCe', dex('pool', 'SOLFI', 'SolFi', swapsOf('7 1 0'))],
  ['TessVdML9pBGgG9yGks7o4HewRaXVAMuoVj4x83GLQH', dex('pool', 'TESSERA', 'Tessera V')],
  ['ZERor4xhbUycZ6gb9ntrhqscUcZmAbQDjEAtCf4hbZY', dex('pool', 'ZEROFI', 'ZeroFi')],
];

export const dexPrograms: ReadonlyMap<Address, DexProgram> = new Map(
  rows.map(([text, program]) => [address(text), program]),
);

export const orderPrograms: ReadonlyMap<Address, string> = new Map([
  [appPrograms.jupiterDca, 'JUPITER_DCA'],
  [address('j1o2qRpjcyUwEvwtcfhEQefh773ZgjxcVRry7LDqg5X'), 'JUPITER_LIMIT_ORDER_V2'],
]);

const NO_POSITIONS: SwapInstruction = { pool: null, trader: null };

export function swapInstructionOf(program: DexProgram, data: Uint8Array): SwapInstruction | null {
  if (program.swaps === null) return NO_POSITIONS;
  return program.swaps.get(leadingHex(data)) ?? program.swaps.get(leadingHex(data, 1)) ?? null;
}

import { address } from '../../../solana/address.ts';
import type { ProgramParser } from '../action.ts';
import { anchorReader, type InstructionLayout, layout } from './instruction-layout.ts';
import { SOL, sale } from './nft-actions.ts';
import { loggedNumber } from './program-logs.ts';

/**
 * Magic Eden AMM (MMM). One side is the pool owner, the other the fee payer; the program logs the price.
 * Source: me-foundation/mmm 0a054d2, sdk/src/idl/mmm.ts and programs/mmm/src/instructions.
 */
export const magicEdenAmmProgram = address('mmm3XBJg5gk8XJxEKBvdgptZz6SgK4tXvn36sodowMc');

const fulfill = (mintAt: number, poolBuys: boolean): InstructionLayout =>
  layout({ payer: 0, owner: 1, pool: 4, mint: mintAt }, ({ at, instruction, transaction }) => {
    const [buyer, seller] = poolBuys ? [at.owner, at.payer] : [at.payer, at.owner];
    const raw = loggedNumber(instruction, transaction, 'total_price');
    const offer = { marketplace: magicEdenAmmProgram, nft: at.mint, currency: SOL, raw };
    return sale({ buyer, seller, ...offer }, transaction);
  });

const read = anchorReader({
  sol_fulfill_buy: fulfill(8, true),
  sol_fulfill_sell: fulfill(8, false),
  sol_ocp_fulfill_buy: fulfill(7, true),
  sol_ocp_fulfill_sell: fulfill(7, false),
  sol_mip1_fulfill_buy: fulfill(7, true),
  sol_mip1_fulfill_sell: fulfill(7, false),
  sol_ext_fulfill_buy: fulfill(6, true),
  sol_ext_fulfill_sell: fulfill(6, false),
  sol_mpl_core_fulfill_buy: fulfill(6, true),
  sol_mpl_core_fulfill_sell: fulfill(6, false),
});

export const magicEdenAmm: ProgramParser = { name: 'MAGIC_EDEN_AMM', read };

import type { ProgramParser } from '../action.ts';
import { given, ignored, layout, numberedReader } from './instruction-layout.ts';
import { nftBurn, nftMint, nftTransfer } from './nft-actions.ts';

/**
 * Metaplex Core: an NFT is one account, without mint and token account. An account that an instruction has no use
 * for stands as the program itself. Source: metaplex-foundation/mpl-core 2181404, idls/mpl_core.json.
 */

/** The owner is whom the instruction names, else the update authority, else the payer (`process_create`). */
const create = layout(
  { asset: 0, collection: 1, payer: 3, owner: 4, updateAuthority: 5 },
  ({ at, instruction }) =>
    nftMint({
      nft: at.asset,
      tokenAccount: null,
      owner: given(at.owner, instruction) ?? given(at.updateAuthority, instruction) ?? at.payer,
      collection: given(at.collection, instruction),
    }),
);

/** Nothing in the transaction names the owner; whoever disposes of the asset is the owner or stands for the owner. */
const burn = layout({ asset: 0, payer: 2, authority: 3 }, ({ at, instruction }) =>
  nftBurn({ nft: at.asset, wallet: given(at.authority, instruction) ?? at.payer }),
);

const transfer = layout({ asset: 0, payer: 2, authority: 3, newOwner: 4 }, ({ at, instruction }) =>
  nftTransfer({
    nft: at.asset,
    sender: given(at.authority, instruction) ?? at.payer,
    receiver: at.newOwner,
    receiverAccount: null,
  }),
);

const read = numberedReader({
  0: create,
  12: burn,
  14: transfer,
  20: create,
  // Bubblegum counts what it minted.
  32: ignored,
});

/** Metaplex Core. */
export const mplCore: ProgramParser = { name: 'MPL_CORE', read };

import type { ProgramParser } from '../action.ts';
import { ignored, layout, numberedReader, optionalAccount } from './instruction-layout.ts';
import { nftBurn, nftMint, nftTransfer } from './nft-actions.ts';

/**
 * Metaplex Core: an NFT is one account. The program address marks an absent account. Source:
 * metaplex-foundation/mpl-core 2181404, idls/mpl_core.json.
 */

/** Owner, else update authority, else payer (`process_create`). */
const create = layout(
  { asset: 0, collection: 1, payer: 3, owner: 4, updateAuthority: 5 },
  ({ at, instruction }) =>
    nftMint({
      nft: at.asset,
      tokenAccount: null,
      owner:
        optionalAccount(at.owner, instruction) ??
        optionalAccount(at.updateAuthority, instruction) ??
        at.payer,
      collection: optionalAccount(at.collection, instruction),
    }),
);

/** The owner is not named: the authority acts as or for the owner. */
const burn = layout({ asset: 0, payer: 2, authority: 3 }, ({ at, instruction }) =>
  nftBurn({ nft: at.asset, wallet: optionalAccount(at.authority, instruction) ?? at.payer }),
);

const transfer = layout({ asset: 0, payer: 2, authority: 3, newOwner: 4 }, ({ at, instruction }) =>
  nftTransfer({
    nft: at.asset,
    sender: optionalAccount(at.authority, instruction) ?? at.payer,
    receiver: at.newOwner,
    receiverAccount: null,
  }),
);

const read = numberedReader({
  0: create,
  12: burn,
  14: transfer,
  20: create,
  // Bubblegum's mint counter.
  32: ignored,
});

export const mplCore: ProgramParser = { name: 'MPL_CORE', read };

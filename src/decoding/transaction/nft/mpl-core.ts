import type { Address } from '../../../solana/address.ts';
import type { ProgramParser } from '../action.ts';
import { type Call, ignored, layout, numberedReader, optionalAccount } from './instruction-layout.ts';
import { nftAction, ONE_NFT } from './nft-actions.ts';

// Metaplex Core stores an NFT in a single account. The program address marks an absent account. Source:
// metaplex-foundation/mpl-core 2181404, idls/mpl_core.json.

/** The owner defaults to the update authority, else to the payer (`process_create`). */
const create = layout(
  { nft_address: 0, collection: 1, payer: 3, owner: 4, updateAuthority: 5 },
  ({ at, instruction }) => {
    const owner = optionalAccount(at.owner, instruction) ?? optionalAccount(at.updateAuthority, instruction);
    return nftAction('NFT_MINT', {
      ...{ nft_address: at.nft_address, ...ONE_NFT, owner_associated_account: null },
      ...{ owner: owner ?? at.payer, collection_address: optionalAccount(at.collection, instruction) },
    });
  },
);

/** The instruction does not name the owner; the authority is the owner or acts for the owner. */
const holderOf = ({ at, instruction }: Call<'payer' | 'authority'>): Address =>
  optionalAccount(at.authority, instruction) ?? at.payer;

const burn = layout({ nft_address: 0, payer: 2, authority: 3 }, (call) =>
  nftAction('NFT_BURN', { ...call.at, ...ONE_NFT, wallet: holderOf(call) }),
);

const transfer = layout({ nft_address: 0, payer: 2, authority: 3, receiver: 4 }, (call) =>
  nftAction('NFT_TRANSFER', {
    ...{ ...call.at, ...ONE_NFT, sender: holderOf(call) },
    receiver_associated_account: null,
  }),
);

const read = numberedReader({
  '0 20': create,
  12: burn,
  14: transfer,
  // Updates Bubblegum's mint counter.
  32: ignored,
});

export const mplCore: ProgramParser = { name: 'MPL_CORE', read };

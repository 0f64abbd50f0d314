import type { Account } from '../../ledger/account/account.ts';
import type { Address } from '../../ledger/address.ts';
import { programs } from '../../ledger/programs.ts';
import type { Chain } from '../chain/chain.ts';
import {
  type CoreAsset,
  type CoreCollection,
  coreProgram,
  decodeCoreAccount,
  inheritedPlugins,
} from './core-account.ts';
import type { FoundNft } from './found-nft.ts';
import { editionAddress, metadataAddress, metadataProgram, turns } from './metaplex-addresses.ts';
import { decodeMetaplexEdition } from './metaplex-edition.ts';
import { decodeMetaplexMetadata } from './metaplex-metadata.ts';
import type { OnChainNft } from './nft.ts';
import { readToken2022Metadata } from './token-2022-metadata.ts';
import { isFungible, type TokenMint } from './token-mint.ts';

/** An NFT as its own account or a server of DAS shows it, before what it points at was read. */
export type NftDraft =
  | Readonly<{ type: 'token'; token: TokenMint; onChain: OnChainNft; holder: Holder | null }>
  | Readonly<{ type: 'core'; address: Address; core: CoreAsset | CoreCollection }>
  | Readonly<{ type: 'das'; nft: FoundNft }>;

/** Who holds a token, and in which account. */
export type Holder = Readonly<{ owner: Address; tokenAccount: Address }>;

type Accounts = ReadonlyMap<Address, Account>;

/** The account of a collection that has the same keeper; of DAS' collections nothing says who keeps them. */
function collectionPointers(draft: NftDraft): Address[] {
  if (draft.type === 'core') {
    const { core } = draft;
    return core.type === 'asset' && core.collection !== null ? [core.collection] : [];
  }
  const { collection } = draft.type === 'token' ? draft.onChain : draft.nft.onChain;
  if (collection === null || !collection.verified || collection.name !== undefined) return [];
  if (draft.type === 'das') return [collection.address, metadataAddress(collection.address)];
  return [draft.token.source === 'token-2022' ? collection.address : metadataAddress(collection.address)];
}

function pointersOf(draft: NftDraft): Address[] {
  const isUnsaid = draft.type === 'token' && draft.token.source === 'metaplex-unsaid' && draft.token.isNft;
  return [...collectionPointers(draft), ...(isUnsaid ? [editionAddress(draft.token.address)] : [])];
}

/** The accounts that the NFTs point at: collections, and editions where metadata does not say the standard. */
export async function readPointed(chain: Chain, drafts: readonly NftDraft[]): Promise<Map<Address, Account>> {
  const pointers: Address[] = [];
  for await (const draft of turns(drafts)) pointers.push(...pointersOf(draft));
  return chain.accounts(pointers);
}

function nameOf(collection: Address, accounts: Accounts): string {
  const own = accounts.get(collection);
  if (own?.owner === coreProgram) return decodeCoreAccount(own.data)?.name ?? '';
  const token2022 = own?.owner === programs.token2022 ? readToken2022Metadata(own.data) : null;
  if (token2022 !== null) return token2022.name;
  const beside = accounts.get(metadataAddress(collection));
  return beside?.owner === metadataProgram ? (decodeMetaplexMetadata(beside.data)?.name ?? '') : '';
}

/** A collection with its name, when the two have agreed; anybody can claim to belong to a collection. */
function namedCollection(collection: OnChainNft['collection'], accounts: Accounts): OnChainNft['collection'] {
  if (collection === null || !collection.verified || collection.name !== undefined) return collection;
  const name = nameOf(collection.address, accounts);
  return name === '' ? collection : { ...collection, name };
}

/** What a mint is of which the metadata does not say it: its edition shows it. */
function saidStandard({ source, isNft, address }: TokenMint, onChain: OnChainNft, accounts: Accounts) {
  if (source !== 'metaplex-unsaid' || !isNft) return onChain.tokenStandard;
  const account = accounts.get(editionAddress(address));
  const edition = account?.owner === metadataProgram ? decodeMetaplexEdition(account.data) : null;
  if (edition === null) return 'FungibleAsset';
  return edition.type === 'print' ? 'NonFungibleEdition' : 'NonFungible';
}

function fromToken({ token, onChain, holder }: NftDraft & { type: 'token' }, accounts: Accounts): OnChainNft {
  const tokenStandard = saidStandard(token, onChain, accounts);
  return {
    ...onChain,
    owner: holder?.owner ?? null,
    collection: namedCollection(onChain.collection, accounts),
    tokenStandard,
    isBurnt: onChain.isBurnt && !isFungible(tokenStandard),
  };
}

function fromCore(address: Address, core: CoreAsset | CoreCollection, accounts: Accounts): OnChainNft {
  const group = core.type === 'asset' ? core.collection : null;
  const account = group === null ? undefined : accounts.get(group);
  const pointed = account?.owner === coreProgram ? decodeCoreAccount(account.data) : null;
  const collection = pointed?.type === 'collection' ? pointed : null;
  const plugins = core.type === 'asset' ? inheritedPlugins(core, collection) : core.plugins;
  const updateAuthority = core.updateAuthority ?? collection?.updateAuthority ?? null;
  const isUpdatable = updateAuthority !== null || group !== null;
  return {
    mint: address,
    name: core.name,
    symbol: '',
    metadataUri: core.uri,
    royaltyBasisPoints: plugins.royalties?.basisPoints ?? 0,
    owner: core.type === 'asset' ? core.owner : core.updateAuthority,
    updateAuthority,
    creators: (plugins.royalties?.creators ?? []).map(({ address: creator, percentage }) => ({
      ...{ address: creator, share: percentage, verified: true },
    })),
    collection: group === null ? null : namedCollection({ address: group, verified: true }, accounts),
    traits: plugins.attributes ?? [],
    primarySaleHappened: false,
    isMutable: isUpdatable && plugins.immutableMetadata === undefined,
    tokenStandard: 'NonFungible',
    merkleTree: null,
    isBurnt: false,
  };
}

const fromAccounts = (onChain: OnChainNft, tokenAccount: Address | null): FoundNft => ({
  ...{ onChain, tokenAccount },
  ...{ content: null, tokenRecord: null },
});

/** The NFT with what it points at. @param pointed - from `readPointed`. */
export function completeNft(draft: NftDraft, pointed: Accounts): FoundNft {
  if (draft.type === 'core') return fromAccounts(fromCore(draft.address, draft.core, pointed), null);
  if (draft.type === 'token') {
    return fromAccounts(fromToken(draft, pointed), draft.holder?.tokenAccount ?? null);
  }
  const { onChain } = draft.nft;
  return { ...draft.nft, onChain: { ...onChain, collection: namedCollection(onChain.collection, pointed) } };
}

import { mapTimeSliced } from '../../base/concurrency/time-sliced.ts';
import type { Account } from '../../solana/account/account.ts';
import type { Address } from '../../solana/address.ts';
import { programs } from '../../solana/programs.ts';
import type { Chain } from '../chain/chain.ts';
import { isFungible, type TokenMint } from '../token/token-mint.ts';
import {
  type CoreAsset,
  type CoreCollection,
  coreProgram,
  decodeCoreAccount,
  effectivePlugins,
} from './core-account.ts';
import { decodeMetaplexEdition, decodeMetaplexMetadata, readToken2022Metadata } from './metadata-accounts.ts';
import { editionAddress, metadataAddress, metadataProgram } from './metaplex-addresses.ts';
import type { FoundNft, OnChainNft } from './nft.ts';
import { truncateTraits } from './nft-content.ts';

/** NFT read from its account or from DAS, before the accounts that it references are read. */
export type NftDraft =
  | Readonly<{ type: 'token'; token: TokenMint; onChain: OnChainNft; holder: Holder | null }>
  | Readonly<{ type: 'core'; address: Address; core: CoreAsset | CoreCollection }>
  | Readonly<{ type: 'das'; nft: FoundNft }>;

export type Holder = Readonly<{ owner: Address; tokenAccount: Address }>;

type Accounts = ReadonlyMap<Address, Account>;

type ReferencedAccounts = Readonly<{
  accounts: Accounts;
  collections: ReadonlyMap<Address, CoreCollection>;
  names: ReadonlyMap<Address, string>;
}>;

const CREATORS_MAX = 100;

/** DAS does not report which program owns a collection, so its account and its metadata account are both read. */
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
  const lacksTokenStandard =
    draft.type === 'token' && draft.token.source === 'metaplex-unspecified' && draft.token.isNft;
  return [...collectionPointers(draft), ...(lacksTokenStandard ? [editionAddress(draft.token.address)] : [])];
}

function nameOf(
  at: Address,
  accounts: Accounts,
  collections: ReferencedAccounts['collections'],
): string | null {
  const own = accounts.get(at);
  if (own?.owner === coreProgram) return collections.get(at)?.name ?? null;
  const token2022 = own?.owner === programs.token2022 ? readToken2022Metadata(own.data) : null;
  if (token2022 !== null) return token2022.name;
  const metadataAccount = accounts.get(metadataAddress(at));
  return metadataAccount?.owner === metadataProgram
    ? (decodeMetaplexMetadata(metadataAccount.data)?.name ?? null)
    : null;
}

const collectionOf = (draft: NftDraft): Address | null => {
  if (draft.type === 'core') return draft.core.type === 'asset' ? draft.core.collection : null;
  return (draft.type === 'token' ? draft.onChain : draft.nft.onChain).collection?.address ?? null;
};

/** Decodes each collection once: a wallet can hold a thousand NFTs from a collection with a megabyte of attributes. */
export async function readReferencedAccounts(
  chain: Chain,
  drafts: readonly NftDraft[],
): Promise<ReferencedAccounts> {
  const pointers = await mapTimeSliced(drafts, pointersOf);
  const accounts = await chain.accounts(pointers.flat());
  const collections = new Map<Address, CoreCollection>();
  await mapTimeSliced(accounts, ([at, { owner, data }]) => {
    const core = owner === coreProgram ? decodeCoreAccount(data) : null;
    if (core?.type === 'collection') collections.set(at, core);
  });
  const names = new Map<Address, string>();
  await mapTimeSliced(new Set(drafts.flatMap((draft) => collectionOf(draft) ?? [])), (at) => {
    const name = nameOf(at, accounts, collections);
    if (name !== null && name !== '') names.set(at, name);
  });
  return { accounts, collections, names };
}

/** Adds names only to verified collections, because unverified membership is just a claim. */
function namedCollection(
  collection: OnChainNft['collection'],
  { names }: ReferencedAccounts,
): OnChainNft['collection'] {
  if (collection === null || !collection.verified || collection.name !== undefined) return collection;
  const name = names.get(collection.address);
  return name === undefined ? collection : { ...collection, name };
}

function effectiveStandard(
  { source, isNft, address }: TokenMint,
  onChain: OnChainNft,
  { accounts }: ReferencedAccounts,
) {
  if (source !== 'metaplex-unspecified' || !isNft) return onChain.tokenStandard;
  const account = accounts.get(editionAddress(address));
  const edition = account?.owner === metadataProgram ? decodeMetaplexEdition(account.data) : null;
  if (edition === null) return 'FungibleAsset';
  return edition.type === 'print' ? 'NonFungibleEdition' : 'NonFungible';
}

function fromToken(
  { token, onChain, holder }: NftDraft & { type: 'token' },
  referenced: ReferencedAccounts,
): OnChainNft {
  const tokenStandard = effectiveStandard(token, onChain, referenced);
  return {
    ...onChain,
    owner: holder?.owner ?? null,
    collection: namedCollection(onChain.collection, referenced),
    tokenStandard,
    isBurnt: onChain.isBurnt && !isFungible(tokenStandard),
  };
}

function fromCore(
  address: Address,
  core: CoreAsset | CoreCollection,
  referenced: ReferencedAccounts,
): OnChainNft {
  const group = core.type === 'asset' ? core.collection : null;
  const collection = (group === null ? null : referenced.collections.get(group)) ?? null;
  const plugins = core.type === 'asset' ? effectivePlugins(core, collection) : core.plugins;
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
    creators: (plugins.royalties?.creators ?? [])
      .slice(0, CREATORS_MAX)
      .map(({ address: creator, percentage }) => ({
        ...{ address: creator, share: percentage, verified: true },
      })),
    collection: group === null ? null : namedCollection({ address: group, verified: true }, referenced),
    traits: truncateTraits(plugins.attributes ?? []),
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

export function completeNft(draft: NftDraft, referenced: ReferencedAccounts): FoundNft {
  if (draft.type === 'core') return fromAccounts(fromCore(draft.address, draft.core, referenced), null);
  if (draft.type === 'token') {
    return fromAccounts(fromToken(draft, referenced), draft.holder?.tokenAccount ?? null);
  }
  const { onChain } = draft.nft;
  return {
    ...draft.nft,
    onChain: { ...onChain, collection: namedCollection(onChain.collection, referenced) },
  };
}

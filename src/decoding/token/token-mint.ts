import type { WritableJson } from '../../base/json.ts';
import type { Account } from '../../solana/account/account.ts';
import type { Address } from '../../solana/address.ts';
import { mintTokenAmount } from '../../solana/encoding/ui-token-amount.ts';
import { parseExtension } from '../../solana/parsed/account/token.ts';
import { inWireOrder } from '../../solana/parsed/wire-order.ts';
import { isTokenProgram, programs } from '../../solana/programs.ts';
import { decodeMintScale, readExtensions } from '../../solana/token/extensions.ts';
import { decodeMint, type Mint } from '../../solana/token/token-state.ts';
import { uiAmountOf } from '../amounts.ts';
import {
  decodeMetaplexMetadata,
  type MetaplexMetadata,
  readToken2022Metadata,
  type Token2022Metadata,
} from '../nft/metadata-accounts.ts';
import { metadataAddress, metadataProgram } from '../nft/metaplex-addresses.ts';
import type { OnChainNft, TokenStandard } from '../nft/nft.ts';
import { truncateTraits } from '../nft/nft-content.ts';

export type TokenMint = Readonly<{
  address: Address;
  program: Address;
  mint: Mint;
  data: Uint8Array;
  /** From the metadata account, else from the mint's extension; null if neither exists. `metadata.owner` is null. */
  metadata: OnChainNft | null;
  /** Origin of the metadata. `metaplex-unspecified`: the account lacks the token standard, so the standard is guessed. */
  source: 'metaplex' | 'metaplex-unspecified' | 'token-2022' | null;
  isNft: boolean;
}>;

/**
 * A mint without decimals is an NFT if its supply is 1, or is 0 and cannot grow.
 * @param mayBeEdition - whether the mint authority may be an edition account, which cannot mint more.
 */
function likelyStandard({ decimals, supply, mintAuthority }: Mint, mayBeEdition: boolean): TokenStandard {
  if (decimals > 0) return 'Fungible';
  const isOne = supply === 1n || (supply === 0n && (mintAuthority === null || mayBeEdition));
  return isOne ? 'NonFungible' : 'FungibleAsset';
}

export const isFungible = (standard: TokenStandard): boolean =>
  standard === 'Fungible' || standard === 'FungibleAsset';

const noOwner = { owner: null, merkleTree: null } as const;

function fromMetaplex(mint: Mint, metadata: MetaplexMetadata): OnChainNft {
  const tokenStandard = metadata.tokenStandard ?? likelyStandard(mint, true);
  const { uri, sellerFeeBasisPoints, ...others } = metadata;
  return {
    ...{ ...others, ...noOwner, tokenStandard, traits: [] },
    metadataUri: uri,
    royaltyBasisPoints: sellerFeeBasisPoints,
    isBurnt: mint.supply === 0n && !isFungible(tokenStandard),
  };
}

function fromToken2022(address: Address, mint: Mint, metadata: Token2022Metadata): OnChainNft {
  const tokenStandard = likelyStandard(mint, false);
  return {
    ...noOwner,
    mint: address,
    name: metadata.name,
    symbol: metadata.symbol,
    metadataUri: metadata.uri,
    royaltyBasisPoints: 0,
    updateAuthority: metadata.updateAuthority,
    creators: [],
    collection: metadata.group === null ? null : { address: metadata.group, verified: true },
    traits: truncateTraits(metadata.additionalMetadata.map(([trait, value]) => ({ trait, value }))),
    primarySaleHappened: false,
    isMutable: metadata.updateAuthority !== null,
    tokenStandard,
    isBurnt: mint.supply === 0n && !isFungible(tokenStandard),
  };
}

function metadataOf(
  address: Address,
  mint: Mint,
  { owner, data }: Account,
  metadataAccount: Account | undefined,
): Pick<TokenMint, 'metadata' | 'source'> {
  const metaplex =
    metadataAccount?.owner === metadataProgram ? decodeMetaplexMetadata(metadataAccount.data) : null;
  if (metaplex !== null && metaplex.mint === address) {
    const source = metaplex.tokenStandard === null ? 'metaplex-unspecified' : 'metaplex';
    return { metadata: fromMetaplex(mint, metaplex), source };
  }
  const own = owner === programs.token2022 ? readToken2022Metadata(data) : null;
  if (own === null) return { metadata: null, source: null };
  return { metadata: fromToken2022(address, mint, own), source: 'token-2022' };
}

function isNonFungible({ decimals, supply }: Mint, { tokenStandard }: OnChainNft): boolean {
  if (decimals > 0 || tokenStandard === 'Fungible') return false;
  return supply === 1n || !isFungible(tokenStandard);
}

export function tokenMintOf(address: Address, accounts: ReadonlyMap<Address, Account>): TokenMint | null {
  const account = accounts.get(address);
  if (account === undefined || !isTokenProgram(account.owner)) return null;
  const mint = decodeMint(account.data);
  if (mint === null) return null;
  const described = metadataOf(address, mint, account, accounts.get(metadataAddress(address)));
  const isNft = described.metadata !== null && isNonFungible(mint, described.metadata);
  return { address, program: account.owner, mint, data: account.data, ...described, isNft };
}

/**
 * Amount in whole tokens, with the mint's interest or scaling applied if the result is finite.
 * @param amount - base units; a sum may exceed a u64.
 * @param now - chain clock in Unix seconds; undefined: interest and scaling are ignored.
 */
export function uiAmountOfMint(amount: bigint, { data, mint }: TokenMint, now: bigint | undefined): number {
  const scale = decodeMintScale(data) ?? { decimals: mint.decimals };
  const { uiAmountString } = mintTokenAmount(amount, scale, now) as Readonly<{ uiAmountString: string }>;
  const scaled = uiAmountString === '' ? Number.NaN : Number(uiAmountString);
  return Number.isFinite(scaled) ? scaled : uiAmountOf(amount, mint.decimals);
}

const EXTENSIONS_MAX = 64;

/** Token-2022 extensions of a mint in jsonParsed form (`{extension, state}`), in account order. */
export const mintExtensions = (data: Uint8Array): readonly WritableJson[] =>
  readExtensions(data)
    .slice(0, EXTENSIONS_MAX)
    .map(([type]) => inWireOrder(parseExtension(data, type, 'mint')));

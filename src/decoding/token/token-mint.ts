import type { WritableJson } from '../../base/json.ts';
import type { Account } from '../../solana/account/account.ts';
import type { Address } from '../../solana/address.ts';
import { mintTokenAmount } from '../../solana/encoding/ui-token-amount.ts';
import { parseExtension } from '../../solana/parsed/account/token-extension.ts';
import { inWireOrder } from '../../solana/parsed/wire-order.ts';
import { isTokenProgram, programs } from '../../solana/programs.ts';
import { readExtensions } from '../../solana/token/extensions.ts';
import { decodeMint, type Mint } from '../../solana/token/mint.ts';
import { decodeMintScale } from '../../solana/token/mint-scale.ts';
import { uiAmountOf } from '../amounts.ts';
import {
  decodeMetaplexMetadata,
  type MetaplexMetadata,
  readToken2022Metadata,
  type Token2022Metadata,
} from '../nft/metadata-accounts.ts';
import { metadataAddress, metadataProgram } from '../nft/metaplex-addresses.ts';
import type { OnChainNft, TokenStandard } from '../nft/nft.ts';
import { cutTraits } from '../nft/nft-content.ts';

/** A mint of either token program with what is known of it by name. Fungible tokens have metadata too. */
export type TokenMint = Readonly<{
  address: Address;
  /** Which token program keeps it. */
  program: Address;
  mint: Mint;
  /** The account's data, for the extensions of Token-2022. */
  data: Uint8Array;
  /** From the metadata account, else from the mint's own extension; null where there is neither. No owner yet. */
  metadata: OnChainNft | null;
  /** Who says it. In `metaplex-unsaid` the account does not say the standard, which is then a guess. */
  source: 'metaplex' | 'metaplex-unsaid' | 'token-2022' | null;
  /** Whether it is one of a kind: NFT endpoints show it, token endpoints do not. */
  isNft: boolean;
}>;

/**
 * What a mint is when nobody says. Of what has been minted once, or never and never can be, there is one; an edition
 * is an authority that cannot.
 */
function likelyStandard({ decimals, supply, mintAuthority }: Mint, mayBeEdition: boolean): TokenStandard {
  if (decimals > 0) return 'Fungible';
  const isOne = supply === 1n || (supply === 0n && (mintAuthority === null || mayBeEdition));
  return isOne ? 'NonFungible' : 'FungibleAsset';
}

/** Whether there may be many of one. */
export const isFungible = (standard: TokenStandard): boolean =>
  standard === 'Fungible' || standard === 'FungibleAsset';

const noOwner = { owner: null, merkleTree: null } as const;

function fromMetaplex(mint: Mint, metadata: MetaplexMetadata): OnChainNft {
  const tokenStandard = metadata.tokenStandard ?? likelyStandard(mint, true);
  return {
    ...noOwner,
    mint: metadata.mint,
    name: metadata.name,
    symbol: metadata.symbol,
    metadataUri: metadata.uri,
    royaltyBasisPoints: metadata.sellerFeeBasisPoints,
    updateAuthority: metadata.updateAuthority,
    creators: metadata.creators,
    collection: metadata.collection,
    traits: [],
    primarySaleHappened: metadata.primarySaleHappened,
    isMutable: metadata.isMutable,
    tokenStandard,
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
    traits: cutTraits(metadata.additionalMetadata.map(([trait, value]) => ({ trait, value }))),
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
  beside: Account | undefined,
): Pick<TokenMint, 'metadata' | 'source'> {
  const metaplex = beside?.owner === metadataProgram ? decodeMetaplexMetadata(beside.data) : null;
  if (metaplex !== null && metaplex.mint === address) {
    const source = metaplex.tokenStandard === null ? 'metaplex-unsaid' : 'metaplex';
    return { metadata: fromMetaplex(mint, metaplex), source };
  }
  const own = owner === programs.token2022 ? readToken2022Metadata(data) : null;
  if (own === null) return { metadata: null, source: null };
  return { metadata: fromToken2022(address, mint, own), source: 'token-2022' };
}

function isOneOfAKind({ decimals, supply }: Mint, { tokenStandard }: OnChainNft): boolean {
  if (decimals > 0 || tokenStandard === 'Fungible') return false;
  return supply === 1n || !isFungible(tokenStandard);
}

/** The mint at an address; null when what is there is none. */
export function tokenMintOf(address: Address, accounts: ReadonlyMap<Address, Account>): TokenMint | null {
  const account = accounts.get(address);
  if (account === undefined || !isTokenProgram(account.owner)) return null;
  const mint = decodeMint(account.data);
  if (mint === null) return null;
  const described = metadataOf(address, mint, account, accounts.get(metadataAddress(address)));
  const isNft = described.metadata !== null && isOneOfAKind(mint, described.metadata);
  return { address, program: account.owner, mint, data: account.data, ...described, isNft };
}

/**
 * An amount in whole tokens: with interest, or multiplied, where the mint says so. Where that is no finite number, the
 * amount is shown as the decimals say.
 *
 * @param amount - base units; a sum may be more than a u64.
 * @param now - Unix seconds of the chain's clock; without it only the decimals count.
 */
export function uiAmountOfMint(amount: bigint, { data, mint }: TokenMint, now: bigint | undefined): number {
  const scale = decodeMintScale(data) ?? { decimals: mint.decimals };
  const { uiAmountString } = mintTokenAmount(amount, scale, now) as Readonly<{ uiAmountString: string }>;
  const scaled = uiAmountString === '' ? Number.NaN : Number(uiAmountString);
  return Number.isFinite(scaled) ? scaled : uiAmountOf(amount, mint.decimals);
}

/** No mint has as many: there are fewer types, and a mint has one of each. */
const EXTENSIONS_MAX = 64;

/**
 * The extensions of a Token-2022 mint, each as jsonParsed shows it: `{extension, state}`, in the order in which they
 * stand. None for a mint of the Token program.
 * @param data - of the mint's account.
 */
export const mintExtensions = (data: Uint8Array): readonly WritableJson[] =>
  readExtensions(data)
    .slice(0, EXTENSIONS_MAX)
    .map(([type]) => inWireOrder(parseExtension(data, type, 'mint')));

import { mapTimeSliced } from '../../base/concurrency/time-sliced.ts';
import type { JsonValue } from '../../base/json.ts';
import { NodeRejection } from '../../protocol/rest/node-rejection.ts';
import type { Account } from '../../solana/account/account.ts';
import type { Address } from '../../solana/address.ts';
import { listOf, objectOf } from '../../solana/encoding/read-json.ts';
import { readAddress } from '../../solana/encoding/read-ui-meta.ts';
import { isTokenProgram } from '../../solana/programs.ts';
import { decodeTokenAccount } from '../../solana/token/token-state.ts';
import type { Chain } from '../chain/chain.ts';
import { readMintAccounts, readMints } from '../token/read-mints.ts';
import { allHoldingsOf } from '../token/token-holdings.ts';
import { tokenMintOf } from '../token/token-mint.ts';
import { CORE_ASSET_KEY_BASE58, coreAssetOffsets, coreProgram, decodeCoreAccount } from './core-account.ts';
import { dasAssets, dasAssetsOfWallet } from './das-assets.ts';
import { decodeTokenRecord } from './metadata-accounts.ts';
import { metadataProgram, tokenRecordAddress } from './metaplex-addresses.ts';
import type { FoundNft, NftDas } from './nft.ts';
import { completeNft, type Holder, type NftDraft, readReferencedAccounts } from './nft-draft.ts';

function draftOf(address: Address, accounts: ReadonlyMap<Address, Account>): NftDraft | null {
  const account = accounts.get(address);
  if (account?.owner === coreProgram) {
    const core = decodeCoreAccount(account.data);
    return core === null ? null : { type: 'core', address, core };
  }
  const token = tokenMintOf(address, accounts);
  if (token === null || token.metadata === null) return null;
  return { type: 'token', token, onChain: token.metadata, holder: null };
}

function largestOf(result: JsonValue): Address | null {
  const [first] = listOf(objectOf(result, 'getTokenLargestAccounts').value, 'token accounts');
  return first === undefined ? null : readAddress(objectOf(first, 'a token account').address, 'an address');
}

async function readHolders(chain: Chain, drafts: readonly NftDraft[]): Promise<Map<Address, Holder>> {
  const mints = drafts.flatMap((draft) =>
    draft.type === 'token' && draft.token.isNft && draft.token.mint.supply > 0n ? [draft.token.address] : [],
  );
  const { commitment } = chain;
  const largest = await chain.each(mints, (mint) =>
    chain.read('getTokenLargestAccounts', [mint, { commitment }], largestOf),
  );
  const accounts = await chain.accounts(largest.flatMap((address) => address ?? []));
  const holders = new Map<Address, Holder>();
  for (const [tokenAccount, { owner: program, data }] of accounts) {
    const held = isTokenProgram(program) ? decodeTokenAccount(data) : null;
    if (held !== null && held.amount > 0n) holders.set(held.mint, { owner: held.owner, tokenAccount });
  }
  return holders;
}

const withHolder = (draft: NftDraft, holders: ReadonlyMap<Address, Holder>): NftDraft =>
  draft.type === 'token' ? { ...draft, holder: holders.get(draft.token.address) ?? null } : draft;

async function readDrafts(
  chain: Chain,
  mints: readonly Address[],
  das: NftDas | null,
): Promise<Map<Address, NftDraft>> {
  const accounts = await readMintAccounts(chain, mints);
  const drafts = new Map<Address, NftDraft>();
  for (const mint of mints) {
    const draft = draftOf(mint, accounts);
    if (draft !== null) drafts.set(mint, draft);
  }
  const unknown = mints.filter((mint) => !drafts.has(mint));
  if (das === null || !das.has(chain.network)) return drafts;
  for (const nft of await dasAssets(das, chain, unknown)) drafts.set(nft.onChain.mint, { type: 'das', nft });
  return drafts;
}

/** Reads Metaplex and Token-2022 NFTs and MPL Core assets by address; with DAS, also compressed and burnt NFTs. */
export async function readNfts(
  chain: Chain,
  mints: Iterable<Address>,
  das: NftDas | null,
): Promise<Map<Address, FoundNft>> {
  const drafts = [...(await readDrafts(chain, [...new Set(mints)], das)).values()];
  const [holders, referenced] = await Promise.all([
    readHolders(chain, drafts),
    readReferencedAccounts(chain, drafts),
  ]);
  const found = await mapTimeSliced(drafts, (draft) => completeNft(withHolder(draft, holders), referenced));
  return new Map(found.map((nft) => [nft.onChain.mint, nft]));
}

function recordAddress({ onChain, tokenAccount }: FoundNft): Address | null {
  const isProgrammable = onChain.tokenStandard.startsWith('Programmable');
  return isProgrammable && tokenAccount !== null ? tokenRecordAddress(onChain.mint, tokenAccount) : null;
}

export async function withTokenRecords(chain: Chain, nfts: readonly FoundNft[]): Promise<FoundNft[]> {
  const recordAddresses = await mapTimeSliced(nfts, recordAddress);
  const accounts = await chain.accounts(recordAddresses.filter((at) => at !== null));
  return mapTimeSliced(nfts, (nft) => {
    const at = recordAddress(nft);
    const account = at === null ? undefined : accounts.get(at);
    if (at === null || account?.owner !== metadataProgram) return nft;
    return { ...nft, tokenRecord: decodeTokenRecord(at, account.data) };
  });
}

async function readTokens(chain: Chain, wallet: Address): Promise<NftDraft[]> {
  const singles = new Map<Address, Holder>();
  for (const { mint, amount, account } of await allHoldingsOf(chain, wallet)) {
    if (amount === 1n) singles.set(mint, { owner: wallet, tokenAccount: account });
  }
  const { mints } = await readMints(chain, singles.keys());
  return [...mints.values()].flatMap((token) => {
    const { metadata: onChain, isNft, address } = token;
    if (!isNft || onChain === null) return [];
    return [{ type: 'token', token, onChain, holder: singles.get(address) ?? null } as const];
  });
}

const fromDas = (nfts: readonly FoundNft[]): NftDraft[] => nfts.map((nft) => ({ type: 'das', nft }));

/** Falls back to DAS, because many nodes reject getProgramAccounts. */
async function readCoreAssets(chain: Chain, das: NftDas | null, wallet: Address): Promise<NftDraft[]> {
  try {
    const accounts = await chain.programAccounts(coreProgram, [
      { memcmp: { offset: coreAssetOffsets.key, bytes: CORE_ASSET_KEY_BASE58 } },
      { memcmp: { offset: coreAssetOffsets.owner, bytes: wallet } },
    ]);
    const assets = await mapTimeSliced(accounts, ({ address, account }): NftDraft[] => {
      const core = decodeCoreAccount(account.data);
      return core?.type === 'asset' && core.owner === wallet ? [{ type: 'core', address, core }] : [];
    });
    return assets.flat();
  } catch (thrown) {
    if (das === null || !(thrown instanceof NodeRejection)) throw thrown;
    return fromDas(await dasAssetsOfWallet(das, chain, wallet, { interface: 'MplCoreAsset' }));
  }
}

async function readCompressed(chain: Chain, das: NftDas | null, wallet: Address): Promise<NftDraft[]> {
  if (das === null) return [];
  return fromDas(await dasAssetsOfWallet(das, chain, wallet, { compressed: true }));
}

const byMint = (a: FoundNft, b: FoundNft): number => (a.onChain.mint < b.onChain.mint ? -1 : 1);

/**
 * Reads all NFTs of a wallet, sorted by mint so that pages are stable; compressed NFTs need DAS. Filter by `onChain`
 * and select the page before calling `withOffChain`, which fetches a document per NFT.
 * @throws NodeRejection, for example if a node rejects getProgramAccounts and DAS is not available.
 */
export async function nftsOfWallet(chain: Chain, das: NftDas | null, wallet: Address): Promise<FoundNft[]> {
  const server = das?.has(chain.network) === true ? das : null;
  const parts = await Promise.all([
    readTokens(chain, wallet),
    readCoreAssets(chain, server, wallet),
    readCompressed(chain, server, wallet),
  ]);
  const drafts = parts.flat();
  const referenced = await readReferencedAccounts(chain, drafts);
  const found = await mapTimeSliced(drafts, (draft) => completeNft(draft, referenced));
  return [...new Map(found.map((nft) => [nft.onChain.mint, nft])).values()].sort(byMint);
}

import { mapTimeSliced } from '../../base/concurrency/time-sliced.ts';
import type { JsonValue } from '../../base/json.ts';
import type { Account } from '../../solana/account/account.ts';
import type { Address } from '../../solana/address.ts';
import { listOf, objectOf } from '../../solana/encoding/read-json.ts';
import { readAddress } from '../../solana/encoding/read-ui-meta.ts';
import { isTokenProgram } from '../../solana/programs.ts';
import { decodeTokenAccount } from '../../solana/token/token-account.ts';
import type { Chain } from '../chain/chain.ts';
import { readMintAccounts } from '../token/read-mints.ts';
import { tokenMintOf } from '../token/token-mint.ts';
import { coreProgram, decodeCoreAccount } from './core-account.ts';
import { dasAssets } from './das-reads.ts';
import type { FoundNft, NftDas } from './found-nft.ts';
import { completeNft, type Holder, type NftDraft, readPointed } from './nft-draft.ts';

/** The NFT at an address; null when what is there is none. */
export function draftOf(address: Address, accounts: ReadonlyMap<Address, Account>): NftDraft | null {
  const account = accounts.get(address);
  if (account?.owner === coreProgram) {
    const core = decodeCoreAccount(account.data);
    return core === null ? null : { type: 'core', address, core };
  }
  const token = tokenMintOf(address, accounts);
  if (token === null || token.metadata === null) return null;
  return { type: 'token', token, onChain: token.metadata, holder: null };
}

/** The largest token account is the first; a mint that nobody holds has none, or an empty one. */
function largestOf(result: JsonValue): Address | null {
  const [first] = listOf(objectOf(result, 'getTokenLargestAccounts').value, 'token accounts');
  return first === undefined ? null : readAddress(objectOf(first, 'a token account').address, 'an address');
}

/** Who holds each of the mints that are one of a kind. */
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

/**
 * NFTs by their addresses: mints with metadata (of the metadata program or of Token-2022), assets and collections of
 * MPL Core, and what no account tells of (compressed ones, burnt ones) where a server of DAS is configured. Owners are
 * looked up.
 *
 * For `nft/read` and `nft/read_selected`:
 *
 *     const found = await readNfts(chain, mints, services.das);
 *     const nfts = mints.flatMap((mint) => found.get(mint) ?? []); // absent: NFT_NOT_FOUND, or left out
 *     const asked = token_record ? await withTokenRecords(chain, nfts) : nfts;
 *     const result = await withOffChain(asked, services.offChain, caller.signal);
 *
 * @returns those that are there, by mint.
 * @throws Failure, NodeRefusal.
 */
export async function readNfts(
  chain: Chain,
  mints: Iterable<Address>,
  das: NftDas | null,
): Promise<Map<Address, FoundNft>> {
  const drafts = [...(await readDrafts(chain, [...new Set(mints)], das)).values()];
  const [holders, pointed] = await Promise.all([readHolders(chain, drafts), readPointed(chain, drafts)]);
  const found = await mapTimeSliced(drafts, (draft) => completeNft(withHolder(draft, holders), pointed));
  return new Map(found.map((nft) => [nft.onChain.mint, nft]));
}

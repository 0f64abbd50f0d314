import { mapTimeSliced } from '../../base/concurrency/time-sliced.ts';
import { NodeRefusal } from '../../protocol/rest/node-refusal.ts';
import type { Address } from '../../solana/address.ts';
import type { Chain } from '../chain/chain.ts';
import { readMints } from '../token/read-mints.ts';
import { allHoldingsOf } from '../token/token-holdings.ts';
import { CORE_ASSET_KEY_BASE58, coreAssetOffsets, coreProgram, decodeCoreAccount } from './core-account.ts';
import { dasAssetsOfWallet } from './das-reads.ts';
import type { FoundNft, NftDas } from './found-nft.ts';
import { completeNft, type Holder, type NftDraft, readPointed } from './nft-draft.ts';

/** The mints of which a wallet holds exactly one base unit, and where. */
async function readSingles(chain: Chain, wallet: Address): Promise<Map<Address, Holder>> {
  const singles = new Map<Address, Holder>();
  for (const { mint, amount, account } of await allHoldingsOf(chain, wallet)) {
    if (amount === 1n) singles.set(mint, { owner: wallet, tokenAccount: account });
  }
  return singles;
}

async function readTokens(chain: Chain, wallet: Address): Promise<NftDraft[]> {
  const singles = await readSingles(chain, wallet);
  const { mints } = await readMints(chain, singles.keys());
  return [...mints.values()].flatMap((token) => {
    const { metadata: onChain, isNft, address } = token;
    if (!isNft || onChain === null) return [];
    return [{ type: 'token', token, onChain, holder: singles.get(address) ?? null } as const];
  });
}

const fromDas = (nfts: readonly FoundNft[]): NftDraft[] => nfts.map((nft) => ({ type: 'das', nft }));

/** Many nodes refuse to search the accounts of a program: then a server of DAS is asked, where there is one. */
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
    if (das === null || !(thrown instanceof NodeRefusal)) throw thrown;
    return fromDas(await dasAssetsOfWallet(das, chain, wallet, { interface: 'MplCoreAsset' }));
  }
}

async function readCompressed(chain: Chain, das: NftDas | null, wallet: Address): Promise<NftDraft[]> {
  if (das === null) return [];
  return fromDas(await dasAssetsOfWallet(das, chain, wallet, { compressed: true }));
}

const byMint = (a: FoundNft, b: FoundNft): number => (a.onChain.mint < b.onChain.mint ? -1 : 1);

/**
 * Every NFT that a wallet owns, by mint in the order of their text, so that pages stay where they are: tokens of both
 * token programs, assets of MPL Core, and compressed ones where a server of DAS is configured (no plain node can list
 * those).
 *
 * For `nft/read_all`, `nft/search` and `wallet/collections`: filter by `onChain`, cut the page, and only then call
 * `withOffChain` for that page. Verified collections have `onChain.collection.name`.
 *
 * @throws Failure ANSWER_TOO_LARGE for a wallet that holds more than `mintsLimits` and `dasReadLimits` allow, others;
 * NodeRefusal, also where the node does not search accounts of programs and no server of DAS is configured.
 */
export async function nftsOfWallet(chain: Chain, das: NftDas | null, wallet: Address): Promise<FoundNft[]> {
  const server = das?.has(chain.network) === true ? das : null;
  const parts = await Promise.all([
    readTokens(chain, wallet),
    readCoreAssets(chain, server, wallet),
    readCompressed(chain, server, wallet),
  ]);
  const drafts = parts.flat();
  const pointed = await readPointed(chain, drafts);
  const found = await mapTimeSliced(drafts, (draft) => completeNft(draft, pointed));
  return [...new Map(found.map((nft) => [nft.onChain.mint, nft])).values()].sort(byMint);
}

import { z } from 'zod';
import { solOf } from '../../decoding/amounts.ts';
import { MemoizedChain } from '../../decoding/chain/chain.ts';
import type { NftOffChain } from '../../decoding/nft/nft.ts';
import { nftsOfWallet } from '../../decoding/nft/read-nfts.ts';
import { type Nft, withOffChain } from '../../decoding/nft/show-nft.ts';
import { tokensOfWallet } from '../../decoding/token/wallet-tokens.ts';
import { chainFailures, endpoint } from '../endpoint.ts';
import { address, commitment, network } from '../fields.ts';
import { nftSchema } from '../nft/nft-schema.ts';
import { lamportsOf } from './balance.ts';
import { tokenSchema, toTokenResult } from './token-schema.ts';

/** Adds the members that NFTs have in the official client's portfolio type. */
const portfolioNft = nftSchema.extend({
  model: z.literal('metadata'),
  mintAddress: z.string(),
  updateAuthorityAddress: z.string(),
  uri: z.string(),
  sellerFeeBasisPoints: z.number().int().meta({ description: 'Hundredths of a percent.' }),
  primarySaleHappened: z.boolean(),
  isMutable: z.boolean(),
  json: z.null(),
  jsonLoaded: z.literal(false),
});

const BASIS_POINTS_OF_A_PERCENT = 100;

const toPortfolioNft = (nft: Nft): z.input<typeof portfolioNft> => ({
  ...nft,
  model: 'metadata',
  mintAddress: nft.mint,
  updateAuthorityAddress: nft.update_authority,
  uri: nft.metadata_uri,
  sellerFeeBasisPoints: Math.round(nft.royalty * BASIS_POINTS_OF_A_PERCENT),
  primarySaleHappened: nft.primary_sale_happened,
  isMutable: nft.is_mutable,
  json: null,
  jsonLoaded: false,
});

/** Reads nothing: a portfolio does not wait for off-chain documents. */
const noOffChain: Pick<NftOffChain, 'read'> = { read: async () => new Map() };

/** Source: rest-api.md §2.23. */
export const getPortfolio = endpoint('GET wallet/get_portfolio', {
  summary: 'Get SOL balance, fungible tokens and NFTs of a wallet',
  description: 'NFTs lack off-chain data; use `nft/read_all` for that.',
  from: 'query',
  failures: chainFailures,
  fields: z.object({ network: network(), commitment: commitment(), wallet: address('The wallet.') }),
  result: z.object({
    sol_balance: z.number().meta({ description: 'SOL, not lamports.' }),
    num_tokens: z.number().int(),
    tokens: z.array(tokenSchema),
    num_nfts: z.number().int(),
    nfts: z.array(portfolioNft),
  }),
  async handle({ network: name, commitment: level, wallet }, { caller, services }) {
    const chain = new MemoizedChain(name, caller, level);
    const [lamports, tokens, found] = await Promise.all([
      lamportsOf(chain, wallet),
      tokensOfWallet(chain, wallet, services),
      nftsOfWallet(chain, services.das, wallet),
    ]);
    const nfts = await withOffChain(found, noOffChain, caller.signal);
    return {
      message: 'Portfolio fetched successfully',
      result: {
        sol_balance: solOf(lamports),
        ...{ num_tokens: tokens.length, tokens: tokens.map(toTokenResult) },
        ...{ num_nfts: nfts.length, nfts: nfts.map(toPortfolioNft) },
      },
    };
  },
});

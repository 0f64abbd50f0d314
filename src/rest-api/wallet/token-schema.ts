import { z } from 'zod';
import type { TokenName } from '../../decoding/token/find-names.ts';
import type { WalletToken } from '../../decoding/token/wallet-tokens.ts';

export const nameShape = {
  name: z.string().meta({ description: '`Unknown Token` if unknown.', examples: ['USD Coin'] }),
  symbol: z.string().meta({ description: '`Token` if unknown.', examples: ['USDC'] }),
  image: z.string().meta({ description: 'Image URI; empty if unknown.' }),
};

/** Source: rest-api.md §2.2. */
export const tokenSchema = z.object({
  address: z.string().meta({ description: 'The mint.' }),
  balance: z.number().meta({ description: 'In whole tokens.', examples: [2.968471] }),
  associated_account: z.string().meta({ description: 'The token account.' }),
  info: z.object({ ...nameShape, decimals: z.number().int() }),
  isFrozen: z.boolean().meta({ description: 'Whether the token account is frozen.' }),
  is_image_loading: z.boolean().meta({ description: 'Whether a later request may return the image.' }),
});

export const infoOf = ({ name, symbol, image }: TokenName) => ({ name, symbol, image });

export const toTokenResult = (token: WalletToken): z.input<typeof tokenSchema> => ({
  address: token.holding.mint,
  balance: token.balance,
  associated_account: token.holding.account,
  info: { ...infoOf(token.name), decimals: token.decimals },
  isFrozen: token.holding.isFrozen,
  is_image_loading: token.name.isLoading === true,
});

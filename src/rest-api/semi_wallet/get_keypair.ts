import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { address } from '../fields.ts';
import { asJsonBody, noSuchWallet, password } from './semi-wallet-fields.ts';

/** Source: rest-api.md §2.10, §2.23, and the official client of this API. */
export const getKeypair = endpoint('GET semi_wallet/get_keypair', {
  paths: ['/sol/v1/semi_wallet/get_keypair', '/sol/v1/wallet/get_keypair'],
  summary: 'Get the plaintext keypair of a semi-custodial wallet',
  description:
    'Prefer `decrypt_semi_wallet`, which lets you decrypt locally. Wrong passwords delay the next attempt. ' +
    asJsonBody,
  from: 'either',
  holdsSecrets: true,
  failures: ['WRONG_PASSWORD', 'TOO_MANY_TRIES'],
  fields: z.object({ wallet: address('The wallet.'), password: password('Its password.') }),
  result: z.object({
    publicKey: z.string().meta({ description: 'Base58.' }),
    secretKey: z.string().meta({ description: 'Secret and public key, 64 bytes, base58.' }),
  }),
  async handle({ wallet, password }, { services, caller }) {
    const keypair = await services.semiWallets.keypair(caller.ownerId, wallet, password);
    if (keypair === null) throw noSuchWallet();
    return { message: 'Keypair fetched successfully', result: keypair };
  },
});

import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { address } from '../fields.ts';
import { asJsonBody, password } from '../semi_wallet/semi-wallet-fields.ts';

/** Source: rest-api.md §2.10. */
export const decryptSemiWallet = endpoint('GET wallet/decrypt_semi_wallet', {
  summary: 'Get the encrypted secret key of a semi-custodial wallet',
  description:
    'The encrypted secret key and its encryption parameters, to decrypt locally: the base58 text ' +
    'of the 64 bytes in a NaCl secretbox with a PBKDF2 key from the password. Wrong passwords delay the next attempt. ' +
    asJsonBody,
  from: 'either',
  holdsSecrets: true,
  failures: ['WRONG_PASSWORD', 'TOO_MANY_TRIES'],
  fields: z.object({ wallet: address('The wallet.'), password: password('Its password.') }),
  result: z.union([
    z.object({
      encryptedPrivateKey: z.string().meta({ description: 'NaCl secretbox, base58.' }),
      decryptionKey: z.string().meta({ description: 'JSON of salt, kdf, digest, iterations and nonce.' }),
    }),
    z.object({ msg: z.string().meta({ description: 'States that this key has no such wallet.' }) }),
  ]),
  async handle({ wallet, password }, { services, caller }) {
    const found = await services.semiWallets.decrypt(caller.ownerId, wallet, password);
    const none = { msg: `No semi custodial wallet found with address: ${wallet}` };
    return { message: 'Decryption Data', result: found ?? none };
  },
});

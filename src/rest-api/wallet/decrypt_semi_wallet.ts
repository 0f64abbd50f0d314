import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { address } from '../fields.ts';
import { asJsonBody, password } from '../semi_wallet/semi-wallet-fields.ts';

/** Source: spec, "REST"; rest-api.md §2.10. */
export const decryptSemiWallet = endpoint({
  verb: 'GET',
  paths: ['/sol/v1/wallet/decrypt_semi_wallet'],
  group: 'wallet',
  name: 'wallet/decrypt_semi_wallet',
  summary: 'What decrypts a semi-custodial wallet, beside its password',
  description:
    'The secret key as it is kept, and the parameters of its encryption, for the caller to decrypt: the base58 text ' +
    'of the 64 bytes in a NaCl secretbox, whose key is PBKDF2 of the password. Wrong passwords make the next try wait. ' +
    asJsonBody,
  from: 'either',
  holdsSecrets: true,
  failures: ['WRONG_PASSWORD', 'TOO_MANY_TRIES'],
  fields: z.object({ wallet: address('The wallet.'), password: password('Its password.') }),
  result: z.union([
    z.object({
      encryptedPrivateKey: z.string().meta({ description: 'The secretbox, base58.' }),
      decryptionKey: z.string().meta({ description: 'JSON of salt, kdf, digest, iterations and nonce.' }),
    }),
    z.object({ msg: z.string().meta({ description: 'Says that this key has no such wallet.' }) }),
  ]),
  async answer({ wallet, password: given }, { services, caller }) {
    const found = await services.semiWallets.decrypt(caller.ownerId, wallet, given);
    const none = { msg: `No semi custodial wallet found with address: ${wallet}` };
    return { message: 'Decryption Data', result: found ?? none };
  },
});

import { InvalidFields } from '../../protocol/rest/invalid-fields.ts';
import { text } from '../fields.ts';

/** Shorter passwords can be found quickly by offline brute force on the response of `decrypt_semi_wallet`. */
const NEW_PASSWORD_MIN = 8;
const PASSWORD_MAX = 1_024;

export const asJsonBody =
  'Send `wallet` and `password` as a JSON body (`Content-Type: application/json`), also with GET: query ' +
  'parameters end up in logs and histories.';

export const password = (description: string) => text(PASSWORD_MAX, description);

export const newPassword = (description: string) => text(PASSWORD_MAX, description, NEW_PASSWORD_MIN);

export const noSuchWallet = (): InvalidFields =>
  new InvalidFields([
    { field: 'wallet', message: 'is no semi-custodial wallet of this key: send one that it has created' },
  ]);

import { z } from 'zod';
import { InvalidFields } from '../../protocol/rest/invalid-fields.ts';
import { isAbsent, text } from '../fields.ts';

/** An offline brute-force attack on the response of `decrypt_semi_wallet` finds shorter passwords quickly. */
const NEW_PASSWORD_MIN = 8;
const PASSWORD_MAX = 1_024;

export const asJsonBody =
  'Send `wallet` and `password` as a JSON body (`Content-Type: application/json`), also with GET: query ' +
  'parameters end up in logs and histories.';

export const password = (description: string) => text(PASSWORD_MAX, description);

export const newPassword = (description: string) =>
  z
    .custom<string>(
      (input) =>
        typeof input === 'string' && input.length >= NEW_PASSWORD_MIN && input.length <= PASSWORD_MAX,
      {
        error: ({ input }) =>
          isAbsent(input)
            ? 'is missing'
            : `must be text of ${NEW_PASSWORD_MIN} to ${PASSWORD_MAX} characters`,
      },
    )
    .meta({ type: 'string', minLength: NEW_PASSWORD_MIN, maxLength: PASSWORD_MAX, description });

export const noSuchWallet = (): InvalidFields =>
  new InvalidFields([
    { field: 'wallet', message: 'is no semi-custodial wallet of this key: send one that it has created' },
  ]);

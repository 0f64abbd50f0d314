import { z } from 'zod';
import { InvalidFields } from '../../protocol/rest/invalid-fields.ts';
import { isAbsent, text } from '../fields.ts';

/** Fewer characters are guessed through in no time by whoever gets hold of what `decrypt_semi_wallet` gives. */
const NEW_PASSWORD_MIN = 8;
const PASSWORD_MAX = 1_024;

/** What endpoints say that take a password with GET. */
export const asJsonBody =
  'Send `wallet` and `password` as a JSON body (`Content-Type: application/json`), which is taken with GET too: what ' +
  'stands behind the `?` ends up in logs and histories.';

/** The password of a semi-custodial wallet. */
export const password = (description: string) => text(PASSWORD_MAX, description);

/** A password that is being set. */
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

/** What is thrown for a wallet that this owner has not. */
export const noSuchWallet = (): InvalidFields =>
  new InvalidFields([
    { field: 'wallet', message: 'is no semi-custodial wallet of this key: send one that it has created' },
  ]);

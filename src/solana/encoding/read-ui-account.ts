import type { JsonValue } from '../../base/json.ts';
import type { Account } from '../account/account.ts';
import { lamports } from '../units.ts';
import { listOf, MalformedJson, objectOf, stringOf, u64Of } from './read-json.ts';
import { readAddress } from './read-ui-meta.ts';

/**
 * An account from the JSON in which nodes show it with encoding `base64` and no slice: the inverse of
 * `encodeAccount`.
 * @param value - from `parseJson`, so that a u64 is exact.
 * @throws MalformedJson when it is something else.
 */
export function readAccount(value: JsonValue): Account {
  const account = objectOf(value, 'an account');
  const [text, encoding] = listOf(account.data, 'account data');
  if (encoding !== 'base64') throw new MalformedJson('base64 account data');
  if (typeof account.executable !== 'boolean') throw new MalformedJson('an executable flag');
  return {
    lamports: lamports(u64Of(account.lamports, 'lamports')),
    data: Buffer.from(stringOf(text, 'account data'), 'base64'),
    owner: readAddress(account.owner, 'an owner'),
    executable: account.executable,
    rentEpoch: u64Of(account.rentEpoch, 'a rentEpoch'),
  };
}

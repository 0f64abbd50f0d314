import { pbkdf2Sync } from 'node:crypto';
import { join } from 'node:path';
import { base58 } from '@scure/base';
import tweetnacl from 'tweetnacl';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonValue } from '../../src/base/json.ts';
import { openDatabase } from '../../src/control/database/open.ts';
import type { Store } from '../../src/control/database/store.ts';
import { SemiWalletStore } from '../../src/control/semi-wallets/semi-wallet-store.ts';
import { Failure } from '../../src/protocol/errors.ts';
import { InvalidFields } from '../../src/protocol/rest/invalid-fields.ts';
import type { RestCaller, RestResponse } from '../../src/protocol/rest/route.ts';
import type { Endpoint } from '../../src/rest-api/endpoint.ts';
import { routeOf } from '../../src/rest-api/routes.ts';
import { changePassword } from '../../src/rest-api/semi_wallet/change_password.ts';
import { getKeypair } from '../../src/rest-api/semi_wallet/get_keypair.ts';
import type { Services } from '../../src/rest-api/services.ts';
import { createSemiWallet } from '../../src/rest-api/wallet/create_semi_wallet.ts';
import { decryptSemiWallet } from '../../src/rest-api/wallet/decrypt_semi_wallet.ts';
import { testPeppers } from '../control/register.ts';
import { temporaryFolder } from '../service/program.ts';

const ELSEWHERE = '2fmz8SuNVyxEP6QwKQs6LNaT2ATszySPEJdhUDesxktc';
const PASSWORD = 'password of mine';

let store: Store;
let services: Services;

beforeAll(async () => {
  store = await openDatabase({ file: join(temporaryFolder('semi-wallets'), 'x.db') });
  const semiWallets = await SemiWalletStore.open({
    store,
    peppers: testPeppers,
    limits: { iterations: 1_000 },
  });
  services = { semiWallets } as unknown as Services;
});

afterAll(async () => {
  await store.close();
});

type Fields = Record<string, JsonValue>;

const callerOf = (ownerId: string) => ({ ownerId, signal: new AbortController().signal }) as RestCaller;

/** Sends the fields as JSON body or query string and checks the response schema. */
async function send(
  endpoint: Endpoint,
  fields: Fields,
  ownerId = 'owner',
  place = 'body',
): Promise<RestResponse> {
  const query = new Map(Object.entries(fields).map(([name, value]) => [name, [String(value)]]));
  const input =
    place === 'body'
      ? { query: new Map(), body: fields as JsonValue, file: null }
      : { query, body: undefined, file: null };
  const answer = await routeOf(endpoint, services).handle(input, callerOf(ownerId));
  expect(endpoint.result.parse(answer.result)).toEqual(answer.result);
  return answer;
}

async function refused(endpoint: Endpoint, fields: Fields, ownerId?: string): Promise<string> {
  try {
    await send(endpoint, fields, ownerId);
    return 'answered';
  } catch (error) {
    if (error instanceof InvalidFields) {
      return error.problems.map(({ field, message }) => `${field} ${message}`).join('; ');
    }
    return error instanceof Failure ? error.code : String(error);
  }
}

async function made(): Promise<string> {
  const { message, result } = await send(createSemiWallet, { password: PASSWORD });
  expect(message).toBe('Semi custodial wallet created successfully');
  return (result as { wallet_address: string }).wallet_address;
}

describe('semi-custodial wallet endpoints', () => {
  it.each(['body', 'query'])('return decryption data for fields in the %s', async (place) => {
    const wallet = await made();
    const { message, result } = await send(decryptSemiWallet, { wallet, password: PASSWORD }, 'owner', place);
    expect(message).toBe('Decryption Data');
    const { encryptedPrivateKey, decryptionKey } = result as Record<string, string>;
    const { salt, digest, iterations, nonce } = JSON.parse(decryptionKey!);
    const key = pbkdf2Sync(PASSWORD, base58.decode(salt), iterations, 32, digest);
    const text = tweetnacl.secretbox.open(base58.decode(encryptedPrivateKey!), base58.decode(nonce), key)!;
    const secretKey = Buffer.from(text).toString('utf8');
    const { result: keypair } = await send(getKeypair, { wallet, password: PASSWORD }, 'owner', place);
    expect(keypair).toEqual({ publicKey: wallet, secretKey });
    const { publicKey } = tweetnacl.sign.keyPair.fromSecretKey(base58.decode(secretKey));
    expect(base58.encode(publicKey)).toBe(wallet);
  });

  it('report an unknown or foreign wallet as missing', async () => {
    const wallet = await made();
    for (const [name, owner] of [
      [ELSEWHERE, 'owner'],
      [wallet, 'other'],
    ] as const) {
      const { result } = await send(decryptSemiWallet, { wallet: name, password: PASSWORD }, owner);
      expect(result).toEqual({ msg: `No semi custodial wallet found with address: ${name}` });
      const words = 'wallet is no semi-custodial wallet of this key: send one that it has created';
      expect(await refused(getKeypair, { wallet: name, password: PASSWORD }, owner)).toBe(words);
      const change = { wallet: name, current_password: PASSWORD, new_password: 'another password' };
      expect(await refused(changePassword, change, owner)).toBe(words);
    }
  });

  it('name invalid fields without showing passwords', async () => {
    expect(await refused(createSemiWallet, {})).toBe('password is missing');
    expect(await refused(createSemiWallet, { password: 'short' })).toBe(
      'password must be text of 8 to 1024 characters',
    );
    expect(await refused(createSemiWallet, { password: 12_345_678 })).toContain('must be text');
    expect(await refused(createSemiWallet, { password: 'x'.repeat(1_025) })).toContain('must be text');
    expect(await refused(decryptSemiWallet, { wallet: 'no', password: 'secret' })).toBe(
      'wallet must be an address: 32 bytes in base58',
    );
    expect(await refused(decryptSemiWallet, { wallet: ELSEWHERE })).toBe('password is missing');
    const change = { wallet: ELSEWHERE, current_password: 'x', new_password: 'short' };
    expect(await refused(changePassword, change)).toBe('new_password must be text of 8 to 1024 characters');
  });
});

import { createDecipheriv, hkdfSync, pbkdf2Sync } from 'node:crypto';
import { base58 } from '@scure/base';
import { Keypair } from '@solana/web3.js';
import tweetnacl from 'tweetnacl';
import { expect, it } from 'vitest';
import type { Store } from '../../src/control/database/store.ts';
import { JsonSeal } from '../../src/control/json-seal.ts';
import type { Peppers } from '../../src/control/pepper.ts';
import { openPeppers } from '../../src/control/pepper-proof.ts';
import { type SemiWalletLimits, semiWalletLimits } from '../../src/control/semi-wallets/key-derivation.ts';
import { SemiWalletStore } from '../../src/control/semi-wallets/semi-wallet-store.ts';
import { Failure } from '../../src/protocol/errors.ts';
import type { SemiWallets } from '../../src/rest-api/services.ts';
import { address } from '../../src/solana/address.ts';
import { temporaryFolder } from '../service/program.ts';
import { testPeppers } from './register.ts';
import { describeOnBothStores, describeOnSqlite } from './stores.ts';

const PASSWORD = 'correct horse battery staple – ñ 🔑';
const ELSEWHERE = address('2fmz8SuNVyxEP6QwKQs6LNaT2ATszySPEJdhUDesxktc');
const quick: Partial<SemiWalletLimits> = { iterations: 1_000 };

function open(
  store: Store,
  more: { limits?: Partial<SemiWalletLimits>; peppers?: Peppers; now?: () => number } = {},
): Promise<SemiWallets> {
  const { limits = {}, peppers = testPeppers, ...rest } = more;
  return SemiWalletStore.open({ store, peppers, limits: { ...quick, ...limits }, ...rest });
}

type Envelope = { encryptedPrivateKey: string; decryptionKey: string };

/** Decrypts as a client does, without product code. Source: rest-api.md §5. */
function decryptAsClient({ encryptedPrivateKey, decryptionKey }: Envelope, password: string): string | null {
  const params = JSON.parse(decryptionKey);
  expect(Object.keys(params)).toEqual(['salt', 'kdf', 'digest', 'iterations', 'nonce']);
  expect([params.kdf, params.digest]).toEqual(['pbkdf2', 'sha256']);
  const [salt, nonce] = [base58.decode(params.salt), base58.decode(params.nonce)];
  expect([salt.length, nonce.length]).toEqual([16, tweetnacl.secretbox.nonceLength]);
  const key = pbkdf2Sync(password, salt, params.iterations, tweetnacl.secretbox.keyLength, params.digest);
  const text = tweetnacl.secretbox.open(base58.decode(encryptedPrivateKey), nonce, key);
  return text === null ? null : Buffer.from(text).toString('utf8');
}

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'done',
    (error: unknown) => (error instanceof Failure ? error.code : error),
  );

const rowsOf = (store: Store) => store.db.selectFrom('semi_wallet').selectAll().orderBy('address').execute();

/** A store with one wallet. */
async function openWallet(store: Store, options: Parameters<typeof open>[1] = {}) {
  const wallets = await open(store, options);
  return { store, wallets, wallet: await wallets.create('owner', PASSWORD) };
}

async function dump(store: Store): Promise<string> {
  const tables = ['semi_wallet', 'audit', 'pepper', 'change_counter'] as const;
  return JSON.stringify(await Promise.all(tables.map((t) => store.db.selectFrom(t).selectAll().execute())));
}

describeOnBothStores('a semi-custodial wallet', ({ open: openStore }) => {
  it('is a keypair that the client can decrypt with the password alone', async () => {
    const { wallets, wallet } = await openWallet(await openStore());
    const envelope = (await wallets.decrypt('owner', wallet, PASSWORD))!;
    expect(Object.keys(envelope).sort()).toEqual(['decryptionKey', 'encryptedPrivateKey']);
    const secretKey = decryptAsClient(envelope, PASSWORD)!;
    const keypair = Keypair.fromSecretKey(base58.decode(secretKey));
    expect(keypair.publicKey.toBase58()).toBe(wallet);
    const message = Buffer.from('signed by it');
    const signature = tweetnacl.sign.detached(message, keypair.secretKey);
    expect(tweetnacl.sign.detached.verify(message, signature, base58.decode(wallet))).toBe(true);
    expect(decryptAsClient(envelope, `${PASSWORD} `)).toBeNull();
    expect(await wallets.keypair('owner', wallet, PASSWORD)).toEqual({ publicKey: wallet, secretKey });
  });

  it('is hidden from other owners, whatever the password', async () => {
    const { wallets, wallet } = await openWallet(await openStore());
    expect(await wallets.decrypt('other', wallet, PASSWORD)).toBeNull();
    expect(await wallets.keypair('other', wallet, PASSWORD)).toBeNull();
    expect(await wallets.changePassword('other', wallet, PASSWORD, 'mine now')).toBe(false);
    expect(await wallets.decrypt('owner', ELSEWHERE, PASSWORD)).toBeNull();
    expect(await wallets.decrypt('owner', wallet, PASSWORD)).not.toBeNull();
  });

  it('accepts a new password, and then rejects the old one', async () => {
    const { wallets, wallet } = await openWallet(await openStore());
    const { secretKey } = (await wallets.keypair('owner', wallet, PASSWORD))!;
    expect(await codeOf(wallets.changePassword('owner', wallet, 'wrong', 'new password'))).toBe(
      'WRONG_PASSWORD',
    );
    expect(await wallets.changePassword('owner', wallet, PASSWORD, 'new password')).toBe(true);
    expect(await codeOf(wallets.decrypt('owner', wallet, PASSWORD))).toBe('WRONG_PASSWORD');
    const envelope = (await wallets.decrypt('owner', wallet, 'new password'))!;
    expect(decryptAsClient(envelope, 'new password')).toBe(secretKey);
  });

  it('has one valid password after two concurrent changes', async () => {
    const { wallets, wallet } = await openWallet(await openStore());
    const passwords = ['first password', 'second password'];
    const changes = passwords.map((to) => codeOf(wallets.changePassword('owner', wallet, PASSWORD, to)));
    const ends = await Promise.all(changes);
    expect([...ends].sort()).toEqual(['WRONG_PASSWORD', 'done']);
    const winner = passwords[ends.indexOf('done')]!;
    expect(await wallets.decrypt('owner', wallet, winner)).not.toBeNull();
  });

  it('counts against the limit of its owner, even when created concurrently', async () => {
    const store = await openStore();
    const wallets = await open(store, { limits: { walletsMax: 3 } });
    const made = await Promise.all(
      Array.from({ length: 6 }, () => codeOf(wallets.create('owner', PASSWORD))),
    );
    expect(made.filter((end) => end === 'WALLETS_FULL').length).toBe(3);
    expect((await rowsOf(store)).length).toBe(3);
    expect(await codeOf(wallets.create('other', PASSWORD))).toBe('done');
  });

  it('prevents the removal of the pepper that encrypts it', async () => {
    const store = await openStore();
    const dataDir = temporaryFolder('wallet-pepper');
    const [old, young] = [`1:${'o'.repeat(40)}`, `2:${'n'.repeat(40)}`];
    const wallets = await open(store, { peppers: await openPeppers(store, { dataDir, text: old }) });
    const wallet = await wallets.create('owner', PASSWORD);
    await expect(openPeppers(store, { dataDir, text: young })).rejects.toThrow(
      'Semi-custodial wallets of this database need pepper version 1. Give every machine',
    );
    await open(store, { peppers: await openPeppers(store, { dataDir, text: `${old},${young}` }) });
    const after = await open(store, { peppers: await openPeppers(store, { dataDir, text: young }) });
    expect(await after.decrypt('owner', wallet, PASSWORD)).not.toBeNull();
  });
});

describeOnSqlite('the password of a semi-custodial wallet', ({ open: openStore }) => {
  it('delays repeated guesses increasingly, without deriving keys', async () => {
    const clock = { now: 1_800_000_000_000 };
    const { wallets, wallet } = await openWallet(await openStore(), { now: () => clock.now });
    const other = await wallets.create('owner', PASSWORD);
    const guess = () => codeOf(wallets.decrypt('owner', wallet, 'guess'));
    for (let i = 0; i < semiWalletLimits.freeAttempts; i++) expect(await guess()).toBe('WRONG_PASSWORD');
    const refused: unknown = await wallets
      .keypair('owner', wallet, PASSWORD)
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'TOO_MANY_TRIES', retryAfter: 1 });
    expect(await codeOf(wallets.changePassword('owner', wallet, PASSWORD, 'new password'))).toBe(
      'TOO_MANY_TRIES',
    );
    expect(await wallets.decrypt('owner', other, PASSWORD)).not.toBeNull();
    clock.now += 1_000;
    expect(await guess()).toBe('WRONG_PASSWORD');
    await expect(wallets.decrypt('owner', wallet, PASSWORD)).rejects.toMatchObject({ retryAfter: 2 });
    clock.now += 2_000;
    expect(await wallets.decrypt('owner', wallet, PASSWORD)).not.toBeNull();
    expect(await guess()).toBe('WRONG_PASSWORD');
  });

  it('limits concurrent guesses', async () => {
    const { wallets, wallet } = await openWallet(await openStore());
    const guesses = Array.from({ length: 50 }, (_, i) =>
      codeOf(wallets.decrypt('owner', wallet, `guess ${i}`)),
    );
    const ends = await Promise.all(guesses);
    expect(ends.filter((end) => end === 'WRONG_PASSWORD').length).toBe(semiWalletLimits.freeAttempts);
    expect(ends.filter((end) => end === 'TOO_MANY_TRIES').length).toBe(50 - semiWalletLimits.freeAttempts);
  });

  it('allows as many attempts for a wallet that does not exist', async () => {
    const wallets = await open(await openStore());
    const guess = () => codeOf(wallets.decrypt('owner', ELSEWHERE, 'wrong'));
    for (let i = 0; i < semiWalletLimits.freeAttempts; i++) expect(await guess()).toBe('done');
    expect(await guess()).toBe('TOO_MANY_TRIES');
  });

  it('derives its key with the default number of iterations', async () => {
    const { wallets, wallet } = await openWallet(await openStore(), { limits: semiWalletLimits });
    const envelope = (await wallets.decrypt('owner', wallet, PASSWORD))!;
    expect(JSON.parse(envelope.decryptionKey).iterations).toBeGreaterThanOrEqual(600_000);
    expect(decryptAsClient(envelope, PASSWORD)).not.toBeNull();
  });

  it('does not appear in the database, and neither does the private key', async () => {
    const { store, wallets, wallet } = await openWallet(await openStore());
    const { secretKey } = (await wallets.keypair('owner', wallet, PASSWORD))!;
    const envelope = (await wallets.decrypt('owner', wallet, PASSWORD))!;
    await wallets.changePassword('owner', wallet, PASSWORD, 'new password');
    const text = await dump(store);
    const params = JSON.parse(envelope.decryptionKey);
    const hidden = [
      PASSWORD,
      'new password',
      secretKey,
      envelope.encryptedPrivateKey,
      params.salt,
      params.nonce,
    ];
    for (const secret of [...hidden, 'pbkdf2']) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(Buffer.from(secret).toString('base64').slice(0, -4));
    }
    const actions = await store.db.selectFrom('audit').select(['action', 'actor']).orderBy('id').execute();
    expect(actions).toEqual([
      { action: 'semi_wallet.create', actor: 'owner:owner' },
      { action: 'semi_wallet.change_password', actor: 'owner:owner' },
    ]);
  });

  it('does not decrypt a row that was moved or damaged', async () => {
    const store = await openStore();
    const wallets = await open(store);
    const [one, two] = [await wallets.create('owner', PASSWORD), await wallets.create('owner', PASSWORD)];
    const [row] = (await rowsOf(store)).filter((each) => each.address === one);
    await store.db
      .insertInto('semi_wallet')
      .values({ ...row!, owner_id: 'thief' })
      .execute();
    expect(await codeOf(wallets.decrypt('thief', one, PASSWORD))).toBe('INTERNAL');
    await store.db
      .updateTable('semi_wallet')
      .set({ wrapped: row!.wrapped })
      .where('address', '=', two)
      .execute();
    expect(await codeOf(wallets.decrypt('owner', two, PASSWORD))).toBe('INTERNAL');
    await store.db.updateTable('semi_wallet').set({ wrapped: 'AAAA' }).where('address', '=', two).execute();
    expect(await codeOf(wallets.decrypt('owner', two, PASSWORD))).toBe('INTERNAL');
    expect(await wallets.decrypt('owner', one, PASSWORD)).not.toBeNull();
  });
});

it('the keys that encrypt stored keypairs differ from the peppers of API keys', () => {
  const pepper = Buffer.alloc(32, 1);
  const purpose = 'solway semi-custodial wallets';
  const seal = new JsonSeal({ current: 1, secrets: new Map([[1, pepper]]) }, purpose);
  const bytes = Buffer.from(seal.seal('x', 'o', 'w').sealed, 'base64');
  const decrypt = (key: Uint8Array): string => {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12));
    decipher.setAAD(Buffer.from('["o","w"]')).setAuthTag(bytes.subarray(-16));
    return decipher.update(bytes.subarray(12, -16), undefined, 'utf8') + decipher.final('utf8');
  };
  expect(() => decrypt(pepper)).toThrow();
  const derived = hkdfSync('sha256', pepper, '', purpose, 32);
  expect(decrypt(Buffer.from(derived))).toBe('"x"');
});

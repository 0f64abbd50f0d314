import { generateKeyPairSync } from 'node:crypto';
import { AttemptLimiter } from '../../gateway/auth/attempt-limiter.ts';
import { Failure } from '../../protocol/errors.ts';
import { type Address, addressFromBytes } from '../../solana/address.ts';
import { decodeBase58 } from '../../solana/base58.ts';
import type { Store } from '../database/store.ts';
import { isStoreUnavailable } from '../database/store-unavailable.ts';
import { JsonSeal, type Sealed } from '../json-seal.ts';
import type { Peppers } from '../pepper.ts';
import { type Envelope, open, seal, simulateOpen } from './envelope.ts';
import { type DeriveKey, keyDerivation, type SemiWalletLimits, semiWalletLimits } from './key-derivation.ts';
import {
  checkWalletQuota,
  findWallet,
  insertWallet,
  replaceWallet,
  resealWallets,
  type WalletName,
} from './wallet-rows.ts';

type SemiWalletsOptions = Readonly<{
  store: Store;
  peppers: Peppers;
  limits?: Partial<SemiWalletLimits>;
  now?: () => number;
}>;

type DecryptedWallet = Readonly<{ sealed: Sealed; envelope: Envelope; secretKey: string }>;

const SEED_BYTES = 32;
const PUBLIC_KEY_BYTES = 32;
/** Stands for all unknown wallets when attempts are counted; no address is empty. */
const NO_WALLET = '';

/** Generates an Ed25519 keypair in Solana format: seed, then public key. The caller must zero it after use. */
function newSecretKey(): Buffer {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { format: 'der', type: 'pkcs8' },
    publicKeyEncoding: { format: 'der', type: 'spki' },
  });
  // Both encodings end with the 32 key bytes. Source: RFC 8410 §4, §7.
  const secretKey = Buffer.concat([privateKey.subarray(-SEED_BYTES), publicKey.subarray(-PUBLIC_KEY_BYTES)]);
  privateKey.fill(0);
  return secretKey;
}

const fromStore = <Result>(work: Promise<Result>): Promise<Result> =>
  work.catch((cause: unknown) => {
    throw isStoreUnavailable(cause) ? new Failure('STORAGE_UNAVAILABLE', { cause }) : cause;
  });

/**
 * Stores keypairs. Each secret key is encrypted with the owner's password, which is not stored, and then sealed, so
 * that passwords cannot be guessed from a stolen database. A wallet is visible only to its owner.
 */
export class SemiWalletStore {
  readonly #store: Store;
  readonly #serverSeal: JsonSeal<Envelope>;
  readonly #limits: SemiWalletLimits;
  readonly #now: () => number;
  readonly #derivationFor: (ownerId: string) => DeriveKey;
  readonly #attemptLimit: AttemptLimiter;

  private constructor({ store, peppers, limits, now = Date.now }: SemiWalletsOptions) {
    this.#store = store;
    this.#serverSeal = new JsonSeal(peppers, 'solway semi-custodial wallets');
    this.#limits = { ...semiWalletLimits, ...limits };
    this.#now = now;
    this.#derivationFor = keyDerivation(this.#limits);
    this.#attemptLimit = new AttemptLimiter(this.#limits, now);
  }

  static async open(options: SemiWalletsOptions): Promise<SemiWalletStore> {
    const wallets = new SemiWalletStore(options);
    await resealWallets(options.store, wallets.#serverSeal);
    return wallets;
  }

  /** @throws Failure WALLETS_FULL, STORAGE_UNAVAILABLE, OVERLOADED */
  async create(ownerId: string, password: string): Promise<Address> {
    const { walletsMax } = this.#limits;
    await fromStore(checkWalletQuota(this.#store.db, ownerId, walletsMax));
    const secretKey = newSecretKey();
    try {
      const address = addressFromBytes(secretKey.subarray(SEED_BYTES));
      const envelope = await this.#encrypt(secretKey, ownerId, password);
      const sealed = this.#serverSeal.seal(envelope, ownerId, address);
      await fromStore(insertWallet(this.#store, { ownerId, address }, sealed, walletsMax, this.#now()));
      return address;
    } finally {
      secretKey.fill(0);
    }
  }

  /**
   * Returns the envelope, or null for an unknown wallet. Both cases take equally long.
   * @throws Failure WRONG_PASSWORD, TOO_MANY_TRIES, OVERLOADED, STORAGE_UNAVAILABLE; INTERNAL if unsealing fails.
   */
  async decrypt(ownerId: string, wallet: Address, password: string): Promise<Envelope | null> {
    return (await this.#open({ ownerId, address: wallet }, password))?.envelope ?? null;
  }

  /** Returns the keys, with the 64-byte secret key in base58; null: unknown wallet. @throws the errors of `decrypt`. */
  async keypair(
    ownerId: string,
    wallet: Address,
    password: string,
  ): Promise<Readonly<{ publicKey: Address; secretKey: string }> | null> {
    const opened = await this.#open({ ownerId, address: wallet }, password);
    return opened === null ? null : { publicKey: wallet, secretKey: opened.secretKey };
  }

  /** Returns false for an unknown wallet. @throws the errors of `decrypt`. */
  async changePassword(ownerId: string, wallet: Address, from: string, to: string): Promise<boolean> {
    const name = { ownerId, address: wallet };
    const opened = await this.#open(name, from);
    if (opened === null) return false;
    const secretKey = decodeBase58(opened.secretKey);
    if (secretKey === null) throw new Failure('INTERNAL');
    const envelope = await this.#encrypt(secretKey, ownerId, to).finally(() => secretKey.fill(0));
    const after = this.#serverSeal.seal(envelope, ownerId, wallet);
    const replacing = replaceWallet(this.#store, name, opened.sealed, after, this.#now());
    // The wallet was changed concurrently, so `from` may no longer be its password.
    if (!(await fromStore(replacing))) throw new Failure('WRONG_PASSWORD');
    return true;
  }

  #encrypt(secretKey: Uint8Array, ownerId: string, password: string): Promise<Envelope> {
    return seal(secretKey, password, this.#limits.iterations, this.#derivationFor(ownerId));
  }

  async #open(name: WalletName, password: string): Promise<DecryptedWallet | null> {
    const sealed = await fromStore(findWallet(this.#store, name));
    // All unknown wallets of an owner share a counter, so that they cannot evict the counters of other wallets.
    const attempt = this.#attemptLimit.start(`${name.ownerId} ${sealed === null ? NO_WALLET : name.address}`);
    try {
      const opened = await this.#openFound(name, sealed, password);
      if (opened === null) attempt.fail();
      else attempt.succeed();
      if (opened === null && sealed !== null) throw new Failure('WRONG_PASSWORD');
      return opened;
    } finally {
      attempt.discard();
    }
  }

  async #openFound(
    { ownerId, address }: WalletName,
    sealed: Sealed | null,
    password: string,
  ): Promise<DecryptedWallet | null> {
    const keyOf = this.#derivationFor(ownerId);
    if (sealed === null) {
      await simulateOpen(password, this.#limits.iterations, keyOf);
      return null;
    }
    const envelope = this.#envelopeOf(sealed, ownerId, address);
    const secretKey = await open(envelope, password, keyOf);
    return secretKey === null ? null : { sealed, envelope, secretKey };
  }

  #envelopeOf(sealed: Sealed, ownerId: string, address: string): Envelope {
    try {
      return this.#serverSeal.openOrThrow(sealed, ownerId, address);
    } catch (cause) {
      throw new Failure('INTERNAL', { cause });
    }
  }
}

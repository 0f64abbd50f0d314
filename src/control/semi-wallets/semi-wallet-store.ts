import { generateKeyPairSync } from 'node:crypto';
import { AttemptLimiter } from '../../gateway/auth/attempt-limiter.ts';
import { Failure } from '../../protocol/errors.ts';
import { type Address, addressFromBytes } from '../../solana/address.ts';
import { decodeBase58 } from '../../solana/base58.ts';
import type { Store } from '../database/open.ts';
import { isStoreUnavailable } from '../database/store-unavailable.ts';
import type { Peppers } from '../pepper.ts';
import { type Envelope, open, seal, simulateOpen } from './envelope.ts';
import { KeyDerivation, type SemiWalletLimits, semiWalletLimits } from './key-derivation.ts';
import {
  checkWalletQuota,
  findWallet,
  insertWallet,
  replaceWallet,
  rewrapWallets,
  type WalletName,
  walletsUnderOther,
} from './wallet-rows.ts';
import { ServerKeys, WrapError, type Wrapped } from './wrap.ts';

export type SemiWalletsOptions = Readonly<{
  store: Store;
  peppers: Peppers;
  limits?: Partial<SemiWalletLimits>;
  /** Wall clock, Unix milliseconds. */
  now?: () => number;
}>;

type DecryptedWallet = Readonly<{ wrapped: Wrapped; envelope: Envelope; secretKey: string }>;

const SEED_BYTES = 32;
const PUBLIC_KEY_BYTES = 32;
const REWRAP_PAGE_ROWS = 200;
/** Counter for attempts at unknown wallets; no address is empty. */
const NO_WALLET = '';

/** A new Ed25519 keypair in Solana format: seed, then public key. The caller zeroes it after use. */
function newSecretKey(): Buffer {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { format: 'der', type: 'pkcs8' },
    publicKeyEncoding: { format: 'der', type: 'spki' },
  });
  // Both encodings end in the 32 bytes. Source: RFC 8410 §4, §7.
  const secretKey = Buffer.concat([privateKey.subarray(-SEED_BYTES), publicKey.subarray(-PUBLIC_KEY_BYTES)]);
  privateKey.fill(0);
  return secretKey;
}

const fromStore = <Result>(work: Promise<Result>): Promise<Result> =>
  work.catch((cause: unknown) => {
    throw isStoreUnavailable(cause) ? new Failure('STORAGE_UNAVAILABLE', { cause }) : cause;
  });

/**
 * Keypairs whose secret key is encrypted with the owner's password, which is not stored. A wallet is visible
 * to its owner only.
 */
export class SemiWalletStore {
  readonly #store: Store;
  readonly #keys: ServerKeys;
  readonly #limits: SemiWalletLimits;
  readonly #now: () => number;
  readonly #derivation: KeyDerivation;
  readonly #attemptLimit: AttemptLimiter;

  private constructor({ store, peppers, limits, now = Date.now }: SemiWalletsOptions) {
    this.#store = store;
    this.#keys = new ServerKeys(peppers);
    this.#limits = { ...semiWalletLimits, ...limits };
    this.#now = now;
    this.#derivation = new KeyDerivation(this.#limits);
    this.#attemptLimit = new AttemptLimiter(this.#limits, now);
  }

  static async open(options: SemiWalletsOptions): Promise<SemiWalletStore> {
    const wallets = new SemiWalletStore(options);
    await wallets.#rewrap();
    return wallets;
  }

  /** @throws Failure WALLETS_FULL, STORAGE_UNAVAILABLE, OVERLOADED */
  async create(ownerId: string, password: string): Promise<Address> {
    const { iterations, walletsMax } = this.#limits;
    await fromStore(checkWalletQuota(this.#store.db, ownerId, walletsMax));
    const secretKey = newSecretKey();
    try {
      const address = addressFromBytes(secretKey.subarray(SEED_BYTES));
      const envelope = await seal(secretKey, password, iterations, this.#derivation.forOwner(ownerId));
      const name = { ownerId, address };
      const wrapped = this.#wrap(name, envelope);
      await fromStore(insertWallet(this.#store, name, wrapped, walletsMax, this.#now()));
      return address;
    } finally {
      secretKey.fill(0);
    }
  }

  /**
   * The envelope for decryption by the client; null for an unknown wallet, after the same time.
   * @throws Failure WRONG_PASSWORD, TOO_MANY_TRIES, OVERLOADED
   */
  async decrypt(ownerId: string, wallet: Address, password: string): Promise<Envelope | null> {
    return (await this.#open({ ownerId, address: wallet }, password))?.envelope ?? null;
  }

  /**
   * The plaintext secret key, 64 bytes in base58.
   * @throws like `decrypt`.
   */
  async keypair(
    ownerId: string,
    wallet: Address,
    password: string,
  ): Promise<Readonly<{ publicKey: Address; secretKey: string }> | null> {
    const opened = await this.#open({ ownerId, address: wallet }, password);
    return opened === null ? null : { publicKey: wallet, secretKey: opened.secretKey };
  }

  /**
   * @returns false for an unknown wallet.
   * @throws like `decrypt`.
   */
  async changePassword(ownerId: string, wallet: Address, from: string, to: string): Promise<boolean> {
    const name = { ownerId, address: wallet };
    const opened = await this.#open(name, from);
    if (opened === null) return false;
    const envelope = await this.#resealed(ownerId, opened.secretKey, to);
    const after = this.#wrap(name, envelope);
    // False after a concurrent change: `from` is no longer the password.
    const replacing = replaceWallet(this.#store, name, opened.wrapped, after, this.#now());
    const replaced = await fromStore(replacing);
    if (!replaced) throw new Failure('WRONG_PASSWORD');
    return true;
  }

  async #resealed(ownerId: string, secretKey: string, password: string): Promise<Envelope> {
    const bytes = decodeBase58(secretKey);
    if (bytes === null) throw new Failure('INTERNAL');
    try {
      return await seal(bytes, password, this.#limits.iterations, this.#derivation.forOwner(ownerId));
    } finally {
      bytes.fill(0);
    }
  }

  async #open(name: WalletName, password: string): Promise<DecryptedWallet | null> {
    const wrapped = await fromStore(findWallet(this.#store, name));
    // Unknown wallets share a counter, so that they cannot evict others from memory.
    const attempt = this.#attemptLimit.start(
      `${name.ownerId} ${wrapped === null ? NO_WALLET : name.address}`,
    );
    try {
      const opened = await this.#openFound(name, wrapped, password);
      if (opened === null) attempt.fail();
      else attempt.succeed();
      if (opened === null && wrapped !== null) throw new Failure('WRONG_PASSWORD');
      return opened;
    } finally {
      attempt.discard();
    }
  }

  async #openFound(
    name: WalletName,
    wrapped: Wrapped | null,
    password: string,
  ): Promise<DecryptedWallet | null> {
    const keyOf = this.#derivation.forOwner(name.ownerId);
    if (wrapped === null) {
      await simulateOpen(password, this.#limits.iterations, keyOf);
      return null;
    }
    const envelope = this.#unwrap(name, wrapped);
    const secretKey = await open(envelope, password, keyOf);
    return secretKey === null ? null : { wrapped, envelope, secretKey };
  }

  #wrap({ ownerId, address }: WalletName, { encryptedPrivateKey, decryptionKey }: Envelope): Wrapped {
    return this.#keys.wrap(JSON.stringify({ encryptedPrivateKey, decryptionKey }), ownerId, address);
  }

  #unwrap({ ownerId, address }: WalletName, wrapped: Wrapped): Envelope {
    try {
      return JSON.parse(this.#keys.unwrap(wrapped, ownerId, address)) as Envelope;
    } catch (cause) {
      throw new Failure('INTERNAL', { cause });
    }
  }

  async #rewrap(): Promise<void> {
    for await (const page of walletsUnderOther(this.#store, this.#keys.current, REWRAP_PAGE_ROWS)) {
      const rewrapped = page.flatMap(({ ownerId, address, wrapped: before }) => {
        const text = this.#unwrapped(before, ownerId, address);
        return text === null
          ? []
          : [{ ownerId, address, before, after: this.#keys.wrap(text, ownerId, address) }];
      });
      await rewrapWallets(this.#store, rewrapped);
    }
  }

  /** null for a row that does not open; it stays for a later repair. */
  #unwrapped(wrapped: Wrapped, ownerId: string, address: string): string | null {
    try {
      return this.#keys.unwrap(wrapped, ownerId, address);
    } catch (error) {
      if (error instanceof WrapError) return null;
      throw error;
    }
  }
}

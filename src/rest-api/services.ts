import type { JsonValue } from '../base/json.ts';
import type { NftDas, NftOffChain } from '../decoding/nft/nft.ts';
import type { TokenList } from '../decoding/token/token-list.ts';
import type { Network } from '../protocol/call.ts';
import type { Commitment } from '../protocol/commitment.ts';
import type { Failure } from '../protocol/errors.ts';
import type { Address } from '../solana/address.ts';
import type { Blockhash } from '../solana/blockhash.ts';
import type { Signature } from '../solana/signature.ts';

// Dependencies of endpoints, except the chain. The composition root injects them.

export interface OffChain extends NftOffChain {
  /** Drops the cached document, so that the next `read` fetches the document again. */
  forget(uri: string): void;
}

interface FileStorage {
  /**
   * Stores a stream or a complete file. Complete files do not queue behind streams. On an error, nothing is stored.
   * @param about.ownerId - id of the key family.
   * @throws Failure FILE_TOO_LARGE, STORAGE_FULL, STORAGE_UNAVAILABLE, OVERLOADED
   */
  put(
    bytes: AsyncIterable<Uint8Array> | Uint8Array,
    about: Readonly<{ name: string | null; type: string; ownerId: string }>,
    signal: AbortSignal,
  ): Promise<Readonly<{ cid: string; uri: string }>>;
}

/** Keypairs with an encrypted secret key. The password is not stored. Source: rest-api.md §5. */
export interface SemiWallets {
  /** @throws Failure WALLETS_FULL. */
  create(ownerId: string, password: string): Promise<Address>;
  /** @returns null if the owner has no such wallet. @throws Failure WRONG_PASSWORD, TOO_MANY_TRIES. */
  decrypt(
    ownerId: string,
    wallet: Address,
    password: string,
  ): Promise<Readonly<{ encryptedPrivateKey: string; decryptionKey: string }> | null>;
  /** Like `decrypt`, but returns the secret key in plaintext: 64 bytes in base58. */
  keypair(
    ownerId: string,
    wallet: Address,
    password: string,
  ): Promise<Readonly<{ publicKey: Address; secretKey: string }> | null>;
  /** @returns whether the owner has this wallet. @throws the same failures as `decrypt`. */
  changePassword(ownerId: string, wallet: Address, from: string, to: string): Promise<boolean>;
}

export type Confirmation = Readonly<{
  status: Commitment | null;
  err: JsonValue;
  failure: Failure | null;
}>;

export interface Confirmations {
  /**
   * Waits for the commitment. Rejects only on abort: with the signal's reason if it is a Failure, else CLIENT_GONE.
   * @param transaction.blockhash - null if the transaction does not expire by block height, as with a durable nonce.
   * @param transaction.lastValidBlockHeight - block height after which blockhash expiry is checked; null: never.
   */
  wait(
    transaction: Readonly<{
      network: Network;
      signature: Signature;
      commitment: Commitment;
      blockhash: Blockhash | null;
      lastValidBlockHeight: bigint | null;
    }>,
    signal: AbortSignal,
  ): Promise<Confirmation>;
}

export type RestSettings = Readonly<{
  /** Number of days that transaction/history covers. */
  historyDays: number;
  domainSuffix: string;
}>;

export type Services = Readonly<{
  offChain: OffChain;
  das: NftDas;
  tokenList: TokenList;
  files: FileStorage;
  semiWallets: SemiWallets;
  confirmations: Confirmations;
  settings: RestSettings;
}>;
